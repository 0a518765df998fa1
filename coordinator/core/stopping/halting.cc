#include "coordinator/core/stopping/halting.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "coordinator/core/members/deaths.h"
#include "coordinator/core/record/record_age.h"
#include "coordinator/market/prices.h"

namespace rekindle::core {
namespace {

constexpr char kOverBudget[] = "the budget must not be crossed";
constexpr char kAtBoundary[] = "at the next step boundary";

// Returns the cause of a job's halt in words that stay true once the job goes on.
std::string CauseOfHalt(const Job& job) {
  const std::string& halt = job.record.halt();
  if (IsForHours(job)) return absl::StrCat("the job had to wait ", absl::StripPrefix(halt, "waits "));
  return halt.substr(0, halt.find(kWaitsFor));
}

// Returns the kind of the event which tells that the planner has halted a job for the reason `kind`.
const char* EventOf(HaltKind kind) {
  switch (kind) {
    case HaltKind::kOffPeak:
      return "off_peak";
    case HaltKind::kWaiting:
      return "waiting";
    case HaltKind::kPreempted:
      break;
  }
  return "preempted";
}

// Returns whether the job is paused by nothing but its user.
bool IsForUser(const v1::JobRecord& record) {
  return record.want_paused() && record.budget_stop().empty() && record.retries_stop().empty();
}

bool IsForBudget(const v1::JobRecord& record) { return record.want_paused() && !record.budget_stop().empty(); }

void Tell(Turn& turn, Job& job, const std::string& kind, const std::string& text) {
  job.record.mutable_job()->mutable_status()->set_last_event(text);
  turn.Emit(&job, kind, text);
}

std::string DescribeStopped(const Job& job) {
  const std::string reason = StopReason(job);
  if (IsForUser(job.record)) return absl::StrCat(reason, " at step ", job.record.job().status().step());
  return IsForBudget(job.record) ? DescribeOverBudget(job) : reason;
}

// Returns whether the status says already that the job has stopped for the reason for which it must stop now.
bool IsShownStopped(const Job& job) {
  const std::string reason = StopReason(job);
  return reason.empty() || job.record.decided().stopped_for() == reason;
}

// Shows in its status what a job does now. REQUIRES: the job keeps no final state, which has a status of its own.
void ShowPresent(const Turn& turn, Job& job) {
  const v1::JobState state = job.record.job().status().state();
  const bool regroups = state == v1::RUNNING || state == v1::PENDING;
  if (!job.regroup.silence.empty()) {
    ShowSilence(turn, job);
  } else if (job.active && MustStop(job)) {
    SetState(turn, job, v1::RUNNING, DescribeStopping(job));
  } else if (job.active) {
    const std::string& why = job.runs_because.empty() ? job.record.membership().reason() : job.runs_because;
    if (!why.empty()) SetState(turn, job, v1::RUNNING, why);
  } else if (regroups && MustStop(job) && IsForBudget(job.record)) {
    // The status says how much of the budget is spent. It is written anew, because more has been spent since.
    ShowRegrouping(turn, job);
  }
}

}  // namespace

std::string StopReason(const Job& job) {
  if (!job.record.want_paused()) return job.record.halt();
  if (IsForBudget(job.record)) return kOverBudget;
  return job.record.retries_stop().empty() ? "paused by the user" : job.record.retries_stop();
}

bool IsForHours(const Job& job) { return !job.record.halt().empty() && job.record.decided().halt_off_peak(); }

std::string DescribeOverBudget(const Job& job) {
  const v1::Cost& cost = job.record.job().status().cost();
  return absl::StrCat(kOverBudget, ": ", Money(cost.spent(), cost.currency()), " of ",
                      Money(cost.budget(), cost.currency()), " are spent; raise it with `rekindle resume ",
                      job.record.job().name(), " --budget AMOUNT`");
}

std::string DescribeStopping(const Job& job) {
  const v1::JobRecord& record = job.record;
  if (IsForUser(record)) return absl::StrCat("pausing: ", kAtBoundary, ", as the user asked");
  if (record.want_paused()) return absl::StrCat("pausing: ", kAtBoundary, ": ", DescribeStopped(job));
  if (IsForHours(job)) return absl::StrCat("stops ", kAtBoundary, ", then ", record.halt());
  return absl::StrCat("stops ", kAtBoundary, ": ", CauseOfHalt(job));
}

void SetStopped(const Turn& turn, Job& job, v1::JobState state) {
  SetState(turn, job, state, DescribeStopped(job));
  job.record.mutable_decided()->set_stopped_for(StopReason(job));
}

void ShowStopped(Turn& turn, Job& job) {
  const v1::JobStatus& status = job.record.job().status();
  const bool pauses = job.record.want_paused(), news = pauses && status.state() != v1::PAUSED;
  // The job was paused when it was brought back from its store. Its status says so already, and stays as it is.
  if (pauses && !news && IsForUser(job.record) && job.record.decided().brought_back()) return;
  SetStopped(turn, job, pauses ? v1::PAUSED : v1::PENDING);
  if (!news) return;
  const std::string reason = DescribeStopped(job);
  Tell(turn, job, "paused",
       IsForUser(job.record) ? reason : absl::StrCat("paused at step ", status.step(), ": ", reason));
}

void ShowRegrouping(const Turn& turn, Job& job) {
  const v1::JobState state = job.record.job().status().state();
  const bool has_stopped = state == v1::PAUSED || state == v1::PENDING;
  // The status of a finishing job says already which members keep the final state, and stays as it is.
  if (IsFinishing(job)) return;
  if (!MustStop(job)) {
    const char* what = has_stopped ? "waits to hear of its members: " : "regroups: ";
    SetState(turn, job, state, absl::StrCat(what, job.regroup.forming.reason));
  } else if (has_stopped && IsShownStopped(job)) {
    SetStopped(turn, job, state);
  } else {
    SetState(turn, job, state, DescribeStopping(job));
  }
}

void ShowSilence(const Turn& turn, Job& job) {
  SetState(turn, job, job.record.job().status().state(),
           MustStop(job) ? absl::StrCat(DescribeStopping(job), "; ", job.regroup.silence) : job.regroup.silence);
}

void KeepStatusTrue(const Turn& turn, Job& job) {
  if (IsOver(job) || IsBehind(job)) return;
  if (!IsFinishing(job)) ShowPresent(turn, job);
  const bool is_paused = job.record.job().status().state() == v1::PAUSED;
  if (is_paused && !job.record.budget_stop().empty()) SetStopped(turn, job, v1::PAUSED);
}

bool IsSaved(const Job& job) {
  const v1::JobStatus& status = job.record.job().status();
  if (job.active || !IsShownStopped(job)) return false;
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

void ReleaseNodes(const Turn& turn, Job& job, const std::string& why) {
  job.record.set_released(true);
  turn.Save(job);
  for (const v1::Member& member : job.record.membership().members()) {
    RecordRelease(turn, job, member.trainer(), absl::StrCat("node ", member.node(), " ", why));
  }
}

void Halt(Turn& turn, Job& job, HaltKind kind, const std::string& why) {
  const bool news = job.record.halt().empty();
  if (job.record.halt() == why) return;
  job.record.set_halt(why);
  job.record.mutable_decided()->set_halt_off_peak(kind == HaltKind::kOffPeak);
  if (news) job.halted_at = turn.now;
  if (news) job.saved_before_stop = false;
  turn.Save(job);
  if (news) {
    Tell(turn, job, EventOf(kind),
         absl::StrCat(job.active ? "pause with a checkpoint at the next step boundary: " : "", why));
  }
  turn.Wake(job, turn.now);
}

void GoOn(Turn& turn, Job& job, const std::string& why) {
  Tell(turn, job, "resumed", why);
  job.regroup.SetYieldReason(why);
}

void Unhalt(Turn& turn, Job& job, const std::string& why) {
  if (job.record.halt().empty()) return;
  job.record.clear_halt();
  if (job.record.budget_stop().empty()) job.record.set_released(false);
  turn.Save(job);
  GoOn(turn, job, why);
  if (!job.active && !job.record.want_paused()) {
    job.regroup.forming.SetReason(why);
    SetState(turn, job, v1::PENDING, why);
  }
  turn.Wake(job, turn.now);
}

void KeepHalt(Turn& turn, Job& job) {
  if (job.record.halt().empty() || job.record.released() || job.active) return;
  const double patience = turn.state.tunables.pause_seconds;
  const double until = std::max(job.regroup.forming.since, job.halted_at) + patience;
  if (!IsSaved(job) && turn.now < until) return turn.Wake(job, until);
  const std::string loss = DescribeLoss(job);
  ReleaseNodes(turn, job, "was given up: " + CauseOfHalt(job));
  turn.Emit(&job, "nodes_released", absl::StrCat("the job gave its nodes up; ", loss, ": ", job.record.halt()));
}

}  // namespace rekindle::core
