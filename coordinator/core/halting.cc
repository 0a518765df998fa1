#include "coordinator/core/halting.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "coordinator/core/adoption.h"
#include "coordinator/core/deaths.h"
#include "coordinator/core/prices.h"
#include "coordinator/core/recovered.h"

namespace rekindle::core {
namespace {

constexpr char kOverBudget[] = "the budget must not be crossed";
constexpr char kWaits[] = "waits ";
constexpr char kAtBoundary[] = "at the next step boundary";

// In words that stay true once it goes on.
std::string CauseOfHalt(const std::string& halt) {
  if (absl::StartsWith(halt, kWaits)) return absl::StrCat("the job had to wait ", halt.substr(sizeof kWaits - 1));
  return halt.substr(0, halt.find(kWaitsFor));
}

// Nothing but its user stops it.
bool IsForUser(const v1::JobRecord& record) {
  return record.want_paused() && record.budget_stop().empty() && record.retries_stop().empty();
}

void Tell(Turn& turn, Job& job, const std::string& kind, const std::string& text) {
  job.record.mutable_job()->mutable_status()->set_last_event(text);
  turn.Emit(&job, kind, text);
}

std::string DescribeStopped(const Job& job) {
  const std::string reason = StopReason(job);
  if (IsForUser(job.record)) return absl::StrCat(reason, " at step ", job.record.job().status().step());
  return reason == kOverBudget ? DescribeOverBudget(job) : reason;
}

// REQUIRES: it keeps no final state, about which its status tells.
void ShowPresent(Job& job) {
  const v1::JobStatus& status = job.record.job().status();
  const bool regroups = status.state() == v1::RUNNING || status.state() == v1::PENDING;
  if (!job.silence.empty()) {
    ShowSilence(job);
  } else if (job.active && MustStop(job)) {
    SetState(job, v1::RUNNING, DescribeStopping(job));
  } else if (job.active) {
    const std::string& why = job.runs_because.empty() ? job.record.membership().reason() : job.runs_because;
    if (!why.empty()) SetState(job, v1::RUNNING, why);
  } else if (regroups && MustStop(job) && absl::StrContains(status.reason(), kOverBudget)) {
    ShowRegrouping(job);  // What is spent has grown.
  }
}

}  // namespace

std::string StopReason(const Job& job) {
  if (!job.record.want_paused()) return job.record.halt();
  if (!job.record.budget_stop().empty()) return kOverBudget;
  return job.record.retries_stop().empty() ? "paused by the user" : job.record.retries_stop();
}

bool IsForHours(const Job& job) { return absl::StartsWith(job.record.halt(), kWaits); }

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
  return absl::StrCat("stops ", kAtBoundary, ": ", CauseOfHalt(record.halt()));
}

void ShowStopped(Turn& turn, Job& job) {
  v1::JobStatus* status = job.record.mutable_job()->mutable_status();
  const bool pauses = job.record.want_paused(), news = pauses && status->state() != v1::PAUSED;
  if (pauses && !news && IsForUser(job.record) && IsBroughtBack(status->reason())) return;  // That is why.
  const std::string reason = DescribeStopped(job);
  SetState(job, pauses ? v1::PAUSED : v1::PENDING, reason);
  if (!news) return;
  Tell(turn, job, "paused",
       IsForUser(job.record) ? reason : absl::StrCat("paused at step ", status->step(), ": ", reason));
}

void ShowRegrouping(Job& job) {
  const v1::JobState state = job.record.job().status().state();
  const bool has_stopped = state == v1::PAUSED || state == v1::PENDING;
  if (IsFinishing(job)) return;  // It says who keeps its final state.
  if (!MustStop(job)) {
    return SetState(job, state,
                    absl::StrCat(has_stopped ? "waits to hear of its members: " : "regroups: ", job.forming.reason));
  }
  if (!has_stopped) return SetState(job, state, DescribeStopping(job));
  const bool told = absl::StartsWith(job.record.job().status().reason(), StopReason(job));
  SetState(job, state, told ? DescribeStopped(job) : DescribeStopping(job));
}

void ShowSilence(Job& job) {
  SetState(job, job.record.job().status().state(),
           MustStop(job) ? absl::StrCat(DescribeStopping(job), "; ", job.silence) : job.silence);
}

void KeepStatusTrue(Job& job) {
  if (IsOver(job) || IsBehind(job)) return;
  if (!IsFinishing(job)) ShowPresent(job);
  const bool is_paused = job.record.job().status().state() == v1::PAUSED;
  if (is_paused && !job.record.budget_stop().empty()) SetState(job, v1::PAUSED, DescribeStopped(job));
}

bool IsSaved(const Job& job) {
  const v1::JobStatus& status = job.record.job().status();
  if (job.active || !absl::StartsWith(status.reason(), StopReason(job))) return false;
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
    Tell(turn, job, kind, absl::StrCat(job.active ? "pause with a checkpoint at the next step boundary: " : "", why));
  }
  turn.Wake(job, turn.now);
}

void GoOn(Turn& turn, Job& job, const std::string& why) {
  Tell(turn, job, "resumed", why);
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
  ReleaseNodes(job, "was given up: " + CauseOfHalt(job.record.halt()));
  turn.Emit(&job, "nodes_released", absl::StrCat("the job gave its nodes up; ", loss, ": ", job.record.halt()));
}

}  // namespace rekindle::core
