#include "coordinator/core/account/speeds.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/spec/spec_words.h"
#include "coordinator/scheduler/level.h"

namespace rekindle::core {
namespace {

// Times that members report count only once the generation has made `kWarmSteps` steps, because the first steps are
// slower than those that follow.
constexpr int kWarmSteps = 3;
// The time of a step in a job's status is a mean over about `kSettledSteps` steps.
constexpr int kSettledSteps = 10;
// A kind of machine has a measured speed after `kEnough` reports, so that one report alone decides nothing.
constexpr int kEnough = 10;
constexpr double kMeanSeconds = 300;
// A reported speed that differs from the mean by more than the factor `kOutlier` counts as if it differed by that
// factor.
constexpr double kOutlier = 2;
// A fleet file may state speeds from `kSlowest` to `kFastest`.
constexpr double kSlowest = 1e-3, kFastest = 1e3;
// A job has speeds for at most `kMaxKinds` kinds of machines, because kinds may be named after pools, whose names come
// over the network.
constexpr int kMaxKinds = 100;

// Returns the kind of a machine. Machines of one instance type are alike in every pool.
const std::string& KindOf(const PoolPrices* pool, const std::string& name, const std::string& device) {
  if (pool == nullptr) return device;
  return pool->instance_type.empty() ? name : pool->instance_type;
}

// Returns the speed that the fleet file states for a kind of machine. Returns 0 where it has no machines of that kind
// any more.
double StatedOf(const PriceBook& book, const std::string& kind) {
  for (const auto& [name, pool] : book.pools) {
    if (KindOf(&pool, name, "") == kind) return pool.speed;
  }
  return kind.empty() || common::DeviceKindOf(kind) != common::DeviceKind::kOther ? 1 : 0;
}

const v1::JobRecord::MeasuredSpeed* FindMeasured(const Job& job, const std::string& kind) {
  for (const auto& speed : job.record.speeds()) {
    if (speed.kind() == kind) return &speed;
  }
  return nullptr;
}

bool AreAlike(const PriceBook& book, const Job& job) { return !book.speeds_stated && job.record.speeds_size() < 2; }

// Returns how many samples a second speed 1 stands for. It is the geometric mean of measured divided by stated speeds,
// over the kinds of machines that the fleet still has. Where it has none of them, the result is the mean of all
// measured speeds. Returns 1 where nothing was measured.
double Scale(const PriceBook& book, const Job& job) {
  double sum = 0, sum_of_all = 0;
  int kinds = 0;
  for (const auto& speed : job.record.speeds()) {
    const double stated = StatedOf(book, speed.kind());
    sum_of_all += std::log(speed.samples_per_second());
    if (stated <= 0) continue;
    sum += std::log(speed.samples_per_second() / stated);
    ++kinds;
  }
  return kinds > 0 ? std::exp(sum / kinds) : std::exp(sum_of_all / std::max(1, job.record.speeds_size()));
}

// Returns whether two speeds differ by no more than repeated measurements of one speed do. No job has to move for such
// a difference.
bool AboutEqual(double a, double b) { return std::max(a, b) < scheduler::kAsFast * std::min(a, b); }

// Updates the mean speed of a kind of machine, and returns it. At first all reports count alike. Later those of about
// the last `kMeanSeconds` count most.
double MeanOf(double now, double samples, SpeedMean& mean) {
  if (mean.count >= kEnough) samples = std::clamp(samples, mean.samples / kOutlier, mean.samples * kOutlier);
  const double newest = mean.count == 0 ? 1 : std::min(1.0, (now - mean.at) / kMeanSeconds);
  mean.count = std::min(mean.count + 1, 1'000'000);
  mean.at = now;
  mean.samples += std::max(newest, 1.0 / mean.count) * (samples - mean.samples);
  return mean.samples;
}

// Compares a measured speed with those of the other kinds of machines, in words such as "2.0 times as many as on b".
std::string Compare(const Job& job, const v1::JobRecord::MeasuredSpeed& of) {
  std::vector<std::string> words;
  for (const auto& other : job.record.speeds()) {
    if (other.kind() == of.kind()) continue;
    words.push_back(absl::StrFormat("%.1f times as many as on %s", of.samples_per_second() / other.samples_per_second(),
                                    other.kind()));
  }
  return absl::StrJoin(words, ", ");
}

// Returns the sum of the speeds of all members of the newest membership.
double MembersSpeed(const State& state, const Job& job) {
  const v1::Membership& membership = job.record.membership();
  if (AreAlike(state.prices, job)) return membership.members_size();
  std::vector<std::pair<std::string, std::string>> places;
  for (const v1::Member& member : membership.members()) {
    const auto node = state.nodes.find(member.node());
    places.emplace_back();
    if (node == state.nodes.end()) continue;
    places.back() = {node->second.record.pool(), node->second.report.device().kind()};
  }
  double sum = 0;
  for (const double speed : SpeedsOf(state, job, places)) sum += speed;
  return sum;
}

}  // namespace

void TakeSpeed(Turn& turn, Job& job, const v1::TrainerReport& report) {
  const double seconds = report.micro_batch_seconds();
  if (seconds <= 0 || report.completed_step() < job.formed_step + kWarmSteps) return;
  const auto node = turn.state.nodes.find(report.node());
  if (node == turn.state.nodes.end()) return;
  const PriceBook& book = turn.state.prices;
  const std::string& pool = node->second.record.pool();
  const std::string& kind = KindOf(FindPool(book, pool), pool, node->second.report.device().kind());
  const double samples = SpecOf(job).training().micro_batch() / seconds;
  const v1::JobRecord::MeasuredSpeed* known = FindMeasured(job, kind);
  if (samples <= 0 || (known == nullptr && job.speeds.size() >= kMaxKinds && job.speeds.count(kind) == 0)) return;
  const auto [at, is_new] = job.speeds.try_emplace(kind);
  // The speed of this kind of machine was measured before the coordinator was restarted. It counts like the mean of
  // many reports.
  if (is_new && known != nullptr) {
    at->second = {.samples = known->samples_per_second(), .at = turn.now, .count = 100 * kEnough};
  }
  const double mean = MeanOf(turn.now, samples, at->second);
  if (at->second.count < kEnough || (known != nullptr && AboutEqual(mean, known->samples_per_second()))) return;
  const double expected = known != nullptr ? known->samples_per_second() : Scale(book, job) * StatedOf(book, kind);
  auto* speeds = job.record.mutable_speeds();
  auto entry = std::find_if(speeds->begin(), speeds->end(), [&](const auto& speed) { return speed.kind() == kind; });
  if (entry == speeds->end()) {
    speeds->Add()->set_kind(kind);
    entry = speeds->end() - 1;
  }
  entry->set_samples_per_second(mean);
  // Until the first speed is measured, `step_samples` has the work of a step in seconds of a worker of speed 1. Now it
  // is converted to samples.
  if (speeds->size() == 1 && known == nullptr) {
    job.record.set_step_samples(job.record.step_samples() * Scale(book, job));
  }
  turn.Save(job);
  turn.Replan();
  if (speeds->size() < 2 || AboutEqual(mean, expected)) return;
  turn.Emit(&job, "speed_measured",
            absl::StrFormat("a worker on %s computes %.3g samples a second, %s", kind, mean, Compare(job, *entry)));
}

std::vector<double> SpeedsOf(const State& state, const Job& job,
                             const std::vector<std::pair<std::string, std::string>>& places) {
  std::vector<double> speeds;
  if (AreAlike(state.prices, job)) return speeds;
  const double scale = Scale(state.prices, job);
  for (const auto& [pool, device] : places) {
    const PoolPrices* known = FindPool(state.prices, pool);
    const double stated = known == nullptr ? 1 : known->speed;
    const v1::JobRecord::MeasuredSpeed* measured = FindMeasured(job, KindOf(known, pool, device));
    const double speed = measured == nullptr ? stated : measured->samples_per_second() / scale;
    speeds.push_back(AboutEqual(speed, stated) ? stated : std::clamp(speed, kSlowest, kFastest));
  }
  return speeds;
}

void TakeStepWork(const State& state, Job& job) {
  const v1::JobStatus& status = job.record.job().status();
  // `steps` counts the steps that the present members have made.
  const int steps = status.step() - job.formed_step;
  const bool first = job.record.step_samples() <= 0;
  if (!job.active || status.step_seconds() <= 0 || steps < (first ? 1 : kSettledSteps)) return;
  job.record.set_step_samples(status.step_seconds() * MembersSpeed(state, job) * Scale(state.prices, job));
}

double StepHours(const State& state, const Job& job) {
  if (job.record.step_samples() <= 0) return SpecOf(job).estimate().step_seconds() / kHour;
  return job.record.step_samples() / Scale(state.prices, job) / MaxWorkers(job) / kHour;
}

}  // namespace rekindle::core
