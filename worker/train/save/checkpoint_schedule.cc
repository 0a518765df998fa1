#include "worker/train/save/checkpoint_schedule.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace rekindle::train {
namespace {

constexpr double kHour = 3600;
// `kFirstSeconds` is the interval between checkpoints until the cost of a save has been measured.
constexpr double kFirstSeconds = 30;
// Checkpoints are never less than `kLeastSeconds` apart, because the loss of so few seconds of computing does not
// matter compared with the time of a recovery.
constexpr double kLeastSeconds = 5;
// Estimates may be wrong, so no more than `kMostSeconds` of computing is ever at risk.
constexpr double kMostSeconds = kHour;
constexpr double kDurableMargin = 1.25;
// A save counts as `kLeastCost` seconds at least, because no save is free, whatever was measured.
constexpr double kLeastCost = 1e-3;
// A failed save is tried again after `kRetrySeconds`, or after the checkpoint interval if that is shorter.
constexpr double kRetrySeconds = 60;
// A save that is not known to have ended no longer delays the next save after `kGiveUpSeconds`, or after the checkpoint
// interval if that is longer.
constexpr double kGiveUpSeconds = 300;
// A change of the checkpoint interval by a quarter changes the overhead of checkpoints by 3 %. Smaller changes are not
// worth an event.
constexpr double kWorthwhile = 1.25;
// Before anything is measured, one interruption in 5 node hours is assumed. This is the middle of what spot GPUs show
// (0.05 to 0.67 an hour, bench/checkpoint/checkpoint_interval.py). Later the assumption still counts as one
// interruption, beside those that were seen.
constexpr double kAssumedInterruptions = 1;
constexpr double kAssumedNodeHours = 5;

std::string Duration(double seconds) {
  if (seconds < 0.1) return absl::StrFormat("%.3g ms", seconds * 1e3);
  if (seconds < 120) return absl::StrFormat("%.3g s", seconds);
  if (seconds < 2 * kHour) return absl::StrFormat("%.3g min", seconds / 60);
  return absl::StrFormat("%.3g h", seconds / kHour);
}

std::string Count(int count, const char* what) { return absl::StrCat(count, " ", what, count == 1 ? "" : "s"); }

// Says how often the whole job is interrupted on all its nodes, and why this is expected.
struct Rate {
  double mean_seconds = 0;
  std::string why;
};

Rate Stated(double per_hour, int nodes) {
  if (per_hour <= 0) return {std::numeric_limits<double>::infinity(), "the job states no interruptions"};
  const double mean = kHour / (per_hour * nodes);
  return {mean,
          absl::StrFormat("an interruption is expected every %s (%.3g an hour and node, as the job states, on %s)",
                          Duration(mean), per_hour, Count(nodes, "node"))};
}

Rate Measured(const InterruptionRecord& record, double node_hours) {
  const double per_hour = (record.interruptions + kAssumedInterruptions) / (node_hours + kAssumedNodeHours);
  const double mean = kHour / (per_hour * record.nodes);
  return {mean, absl::StrFormat("an interruption is expected every %s (%s in %.2g node-hours of this job, beside the "
                                "assumed 1 in %.0f; %s now)",
                                Duration(mean), Count(record.interruptions, "interruption"), node_hours,
                                kAssumedNodeHours, Count(record.nodes, "node"))};
}

}  // namespace

double BestInterval(double save_seconds, double mean_seconds) {
  const double ratio = save_seconds / (2 * mean_seconds);
  if (ratio >= 1) return mean_seconds + save_seconds;
  // Daly's formula gives the computing time between two saves, and its last term subtracts the time of a save.
  // BestInterval includes the save, so this term is left out.
  return std::sqrt(2 * save_seconds * mean_seconds) * (1 + std::sqrt(ratio) / 3 + ratio / 9);
}

CheckpointSchedule::CheckpointSchedule(const CheckpointSpec& spec) : spec_(spec) {
  if (spec_.kind == CheckpointSpec::Kind::kEverySeconds) interval_ = spec_.every_seconds;
  if (spec_.kind != CheckpointSpec::Kind::kAuto) return;
  interval_ = kFirstSeconds;
  reason_ = absl::StrCat("the first checkpoint comes after ", Duration(kFirstSeconds),
                         ": what one costs is not measured yet");
}

void CheckpointSchedule::Joined(double now, const InterruptionRecord& record) {
  cost_.ForgetSteps();
  record_ = record;
  record_.nodes = std::max(1, record.nodes);
  if (!joined_) at_risk_since_ = now;
  joined_ = true;
  joined_at_ = now;
  begun_step_ = -1;
  not_before_ = now;
  Reconsider(now);
}

void CheckpointSchedule::Restarted(double now, int64_t step) {
  durable_step_ = step;
  snapshot_step_ = -1;
  at_risk_since_ = now;
}

void CheckpointSchedule::StepDone(double seconds, bool usual) { cost_.Step(seconds, usual); }

void CheckpointSchedule::Begun(double now, int64_t step) {
  begun_step_ = step;
  snapshot_step_ = step;
  cost_.Begun(now);
}

void CheckpointSchedule::Stalled(double seconds) { cost_.Stalled(seconds); }

void CheckpointSchedule::Durable(double now, int64_t step) {
  if (step <= durable_step_) return;
  durable_step_ = step;
  // A checkpoint that is older than the newest save became durable late. The newest save is still under way, so nothing
  // else changes.
  if (step < snapshot_step_) return;
  if (step == snapshot_step_) {
    at_risk_since_ = cost_.begun_at();
    cost_.Durable(now);
  } else {
    // A checkpoint that is newer than this schedule's newest save was saved without this schedule. It is not known when
    // that save began, but it was not long ago.
    at_risk_since_ = now;
    cost_.Lost();
  }
  Reconsider(now);
}

void CheckpointSchedule::Failed(double now) {
  cost_.Lost();
  not_before_ = now + std::min(interval_, kRetrySeconds);
}

bool CheckpointSchedule::Due(double now, int64_t step, double step_seconds) const {
  switch (spec_.kind) {
    case CheckpointSpec::Kind::kNever:
      return false;
    case CheckpointSpec::Kind::kEverySteps:
      // If a change of membership interrupted a save, the next save is due at once.
      return step - std::max({durable_step_, begun_step_, int64_t{0}}) >= spec_.every_steps;
    case CheckpointSpec::Kind::kEverySeconds:
    case CheckpointSpec::Kind::kAuto:
      break;
  }
  if (cost_.in_flight() && now < cost_.begun_at() + std::max(kGiveUpSeconds, interval_)) return false;
  const double then = now + step_seconds;
  // The step that is saved is the one that is nearest to the end of the interval.
  return then >= not_before_ && then - at_risk_since_ >= interval_ - step_seconds / 2;
}

void CheckpointSchedule::Reconsider(double now) {
  if (spec_.kind != CheckpointSpec::Kind::kAuto || !cost_.measured()) return;
  const double node_hours = record_.node_hours + record_.nodes * (now - joined_at_) / kHour;
  const Rate rate = spec_.interruptions_per_hour >= 0 ? Stated(spec_.interruptions_per_hour, record_.nodes)
                                                      : Measured(record_, node_hours);
  const double cost = std::max(kLeastCost, cost_.training_seconds());
  const double best = BestInterval(cost, rate.mean_seconds);
  const double writable = kDurableMargin * cost_.durable_seconds();
  const double wanted = std::max({std::min(best, kMostSeconds), kLeastSeconds, writable});
  const bool worthwhile = wanted > interval_ * kWorthwhile || wanted * kWorthwhile < interval_;
  if (settled_ && !worthwhile && interval_ >= cost_.durable_seconds()) return;
  settled_ = true;
  interval_ = wanted;
  reason_ = absl::StrCat("a checkpoint every ", Duration(wanted), ": one costs ", Duration(cost), " of training, ",
                         rate.why, std::isinf(best) ? "" : absl::StrCat(", for which ", Duration(best), " lose least"));
  if (writable >= wanted) {
    absl::StrAppend(&reason_, "; but one takes ", Duration(cost_.durable_seconds()), " to become durable");
  } else if (best < wanted) {
    absl::StrAppend(&reason_, "; but never more often than every ", Duration(wanted));
  } else if (best > wanted) {
    absl::StrAppend(&reason_, "; but never rarer than every ", Duration(wanted));
  }
}

}  // namespace rekindle::train
