#include "coordinator/core/members/durable.h"
#include "common/agreed/agreed_limits.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "coordinator/core/record/store_search.h"
#include "coordinator/core/state/text.h"

namespace rekindle::core {
namespace {

// A manifest's name has at most this many bytes.
constexpr size_t kMaxName = 200;

bool IsNewer(const v1::Checkpointed& a, const v1::Checkpointed& b) {
  return b.manifest().empty() || std::tuple(a.step(), a.generation()) > std::tuple(b.step(), b.generation());
}

// Returns the newest step that the job has made, as far as is known. A new line of the job's history that begins at an
// earlier step gives up the steps after that one.
int StepAtHand(const Job& job) { return std::max(DurableStep(job), job.record.job().status().step()); }

// Shows the newest durable checkpoint in the job's status. `at` is the Unix time in seconds when the checkpoint was
// heard of, or 0 where that is not known.
void ShowDurable(const Turn& turn, Job& job, double at) {
  v1::JobStatus* status = job.record.mutable_job()->mutable_status();
  status->set_checkpoint_step(DurableStep(job));
  status->set_checkpoint_at(at);
  RaiseStep(turn, job, DurableStep(job));
  turn.Save(job);
  turn.Changed(job);
}

}  // namespace

std::optional<v1::Checkpointed> ParseManifestName(const std::string& name) {
  const std::vector<std::string> parts = absl::StrSplit(name, absl::MaxSplits('-', 2));
  int generation = 0, step = 0;
  if (name.size() > kMaxName || parts.size() != 3 || parts[2].empty()) return std::nullopt;
  if (!absl::SimpleAtoi(parts[0], &generation) || !absl::SimpleAtoi(parts[1], &step)) return std::nullopt;
  if (generation <= 0 || step < 0) return std::nullopt;
  v1::Checkpointed checkpoint;
  checkpoint.set_manifest(name);
  checkpoint.set_generation(generation);
  checkpoint.set_step(step);
  return checkpoint;
}

void RaiseStep(const Turn& turn, Job& job, int step) {
  v1::JobStatus* status = job.record.mutable_job()->mutable_status();
  if (status->step() >= step) return;
  status->set_step(step);
  turn.Changed(job);
}

int DurableStep(const Job& job) {
  return job.record.checkpoint().manifest().empty() ? -1 : job.record.checkpoint().step();
}

bool IsUsable(const Job& job, const v1::Checkpointed& checkpoint) {
  if (checkpoint.manifest().empty() || checkpoint.manifest().size() > kMaxName) return false;
  if (checkpoint.step() < 0 || checkpoint.generation() < 0) return false;
  const auto& damaged = job.record.damaged_checkpoints();
  if (std::find(damaged.begin(), damaged.end(), checkpoint.manifest()) != damaged.end()) return false;
  return checkpoint.generation() >= job.record.line_generation() ||
         checkpoint.manifest() == job.record.checkpoint().manifest();
}

bool HoldsState(const Job& job, const v1::TrainerReport& report) {
  return report.has_state() && report.generation() >= job.record.line_generation();
}

void TakeDurableCheckpoint(Turn& turn, Job& job, const v1::TrainerReport& report) {
  if (report.store_generation() > job.record.store_generation()) {
    job.record.set_store_generation(report.store_generation());
    turn.Save(job);
  }
  for (const v1::Checkpointed* found : {&report.committed(), &report.restorable()}) {
    // A checkpoint that is only a copy in a node's memory is lost with the node, so it does not count as durable.
    if (found == &report.restorable() && !report.restorable_durable()) continue;
    if (!IsUsable(job, *found) || !IsNewer(*found, job.record.checkpoint())) continue;
    *job.record.mutable_checkpoint() = *found;
    turn.Save(job);
    if (found->step() <= job.record.job().status().checkpoint_step()) continue;
    ShowDurable(turn, job, UnixNow(turn));
    turn.Emit(&job, "checkpoint_saved", absl::StrCat("checkpoint ", found->manifest(), " holds step ", found->step()),
              report.node());
  }
}

void GiveUpDamaged(Turn& turn, Job& job, const v1::Checkpointed& older, const std::string& why) {
  const v1::Checkpointed damaged = job.record.checkpoint();
  if (job.record.damaged_checkpoints_size() >= common::kMostDamaged) {
    job.record.mutable_damaged_checkpoints()->DeleteSubrange(0, 1);
  }
  job.record.add_damaged_checkpoints(damaged.manifest());
  *job.record.mutable_checkpoint() = older;
  ShowDurable(turn, job, 0);
  turn.Emit(&job, "checkpoint_damaged",
            absl::StrCat("checkpoint ", damaged.manifest(), " of step ", damaged.step(), " is damaged (", why,
                         "): the job goes back to ", older.manifest(), " of step ", older.step(), ", and the ",
                         damaged.step() - older.step(), " steps between them are lost"));
}

absl::Status CheckLine(const Job& job, const std::string& from, bool confirmed) {
  const std::string& name = job.record.job().name();
  const std::optional<v1::Checkpointed> checkpoint = ParseManifestName(from);
  if (from != kScratch && !checkpoint) {
    return absl::InvalidArgumentError(absl::StrCat("from: '", Bounded(from, 100), "' is no checkpoint's name; ",
                                                   "`rekindle checkpoint ls ", name, "` lists them, and `", kScratch,
                                                   "` starts anew"));
  }
  if (job.active) {
    return absl::FailedPreconditionError(
        absl::StrCat("job ", name, " trains, and keeps all it has: `rekindle pause ", name, "` it first"));
  }
  const int kept = checkpoint ? checkpoint->step() : 0;
  const int lost = StepAtHand(job) - kept;
  const int most = SpecOf(job).training().steps();
  if (kept > most) {
    return absl::InvalidArgumentError(
        absl::StrCat("from: checkpoint ", from, " would be of step ", kept, ", and job ", name, " makes ", most));
  }
  if (confirmed || lost == 0) return absl::OkStatus();
  if (lost < 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("job ", name, " has made ", StepAtHand(job), " steps as far as is known, and checkpoint ", from,
                     " would be of step ", kept, "; if there is such a one, repeat it with --yes"));
  }
  return absl::FailedPreconditionError(absl::StrCat("that gives up ", lost, " steps of job ", name, ": it has step ",
                                                    StepAtHand(job), ", and would go on from step ", kept,
                                                    "; repeat it with --yes if that is meant"));
}

void BeginLine(Turn& turn, Job& job, const std::string& from) {
  const int lost = StepAtHand(job);
  const std::optional<v1::Checkpointed> checkpoint = ParseManifestName(from);
  job.record.set_line_generation(NextGeneration(job));
  job.record.clear_checkpoint();
  job.record.clear_damaged_checkpoints();
  NeedNotLook(turn, job);
  if (checkpoint) *job.record.mutable_checkpoint() = *checkpoint;
  ShowDurable(turn, job, 0);
  const int step = std::max(0, DurableStep(job));
  job.record.mutable_job()->mutable_status()->set_step(step);
  job.completed_step = step;
  turn.Emit(&job, "new_line",
            absl::StrCat("goes on from ",
                         checkpoint ? absl::StrCat("checkpoint ", from, " of step ", step) : "the initial state",
                         ", as its user asked: ", std::max(0, lost - step), " steps are given up"));
}

}  // namespace rekindle::core
