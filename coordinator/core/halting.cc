#include "coordinator/core/halting.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "coordinator/core/deaths.h"

namespace rekindle::core {

std::string StopReason(const Job& job) {
  if (!job.record.want_paused()) return job.record.halt();
  if (!job.record.budget_stop().empty()) return job.record.budget_stop();
  return job.record.retries_stop().empty() ? "paused by the user" : job.record.retries_stop();
}

void ShowStopped(Job& job) { SetState(job, job.record.want_paused() ? v1::PAUSED : v1::PENDING, StopReason(job)); }

bool IsSaved(const Job& job) {
  const v1::JobStatus& status = job.record.job().status();
  if (job.active || status.reason() != StopReason(job)) return false;
  return job.record.membership().members_size() == 0 || status.step() == 0 || status.checkpoint_step() >= status.step();
}

std::string DescribeLoss(const Job& job) {
  const v1::JobStatus& status = job.record.job().status();
  if (IsSaved(job)) return "its state is saved";
  return absl::StrCat("its state of step ", status.step(), " could not be saved, ",
                      status.checkpoint_step() < 0
                          ? "and there is no checkpoint"
                          : absl::StrCat("the newest checkpoint is of step ", status.checkpoint_step()));
}

void ReleaseNodes(Job& job, const std::string& why) {
  job.record.set_released(true);
  job.must_save = true;
  for (const v1::Member& member : job.record.membership().members()) {
    RecordRelease(job, member.trainer(), absl::StrCat("node ", member.node(), " ", why));
  }
}

void Halt(Turn& turn, Job& job, const std::string& kind, const std::string& why) {
  const bool news = job.record.halt().empty();
  if (job.record.halt() == why) return;
  job.record.set_halt(why);
  if (news) job.halted_at = turn.now;
  if (news) job.saved_before_stop = false;
  job.must_save = true;
  if (news) {
    turn.Emit(&job, kind, absl::StrCat(job.active ? "pause with a checkpoint at the next step boundary: " : "", why));
  }
  turn.Wake(job, turn.now);
}

void GoOn(Turn& turn, Job& job, const std::string& why) {
  turn.Emit(&job, "resumed", why);
  job.yield_reason = why;
}

void Unhalt(Turn& turn, Job& job, const std::string& why) {
  if (job.record.halt().empty()) return;
  job.record.clear_halt();
  if (job.record.budget_stop().empty()) job.record.set_released(false);
  job.must_save = true;
  GoOn(turn, job, why);
  if (!job.active && !job.record.want_paused()) {
    job.forming.reason = why;
    SetState(job, v1::PENDING, why);
  }
  turn.Wake(job, turn.now);
}

void KeepHalt(Turn& turn, Job& job) {
  if (job.record.halt().empty() || job.record.released() || job.active) return;
  const double patience = turn.state.tunables.pause_seconds;
  const double until = std::max(job.forming.since, job.halted_at) + patience;
  if (!IsSaved(job) && turn.now < until) return turn.Wake(job, until);
  const std::string loss = DescribeLoss(job);
  ReleaseNodes(job, "was given up: " + job.record.halt());
  turn.Emit(&job, "nodes_released", absl::StrCat("the job gave its nodes up; ", loss, ": ", job.record.halt()));
}

}  // namespace rekindle::core
