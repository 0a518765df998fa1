#include "coordinator/core/advance.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "coordinator/core/account/costs.h"
#include "coordinator/core/account/spending.h"
#include "coordinator/core/certainty/certainty.h"
#include "coordinator/core/charges/lost_charges.h"
#include "coordinator/core/generation/boundary_changes.h"
#include "coordinator/core/generation/fence.h"
#include "coordinator/core/generation/finishing.h"
#include "coordinator/core/generation/next_generation.h"
#include "coordinator/core/members/survey.h"
#include "coordinator/core/record/record_age.h"
#include "coordinator/core/state/flapping.h"
#include "coordinator/core/state/regroup.h"
#include "coordinator/core/state/text.h"
#include "coordinator/core/stopping/budget.h"
#include "coordinator/core/stopping/halting.h"
#include "coordinator/core/taken_over/adoption.h"

namespace rekindle::core {
namespace {

// Returns, as a sentence, which member is silent and did not stop with the others, or an empty string where there is
// none. Members that stopped at a boundary, or finished, watch no connection any more, so that none of them would
// report the silent one.
std::string FindSilentPeer(Turn& turn, Job& job, const std::vector<MemberView>& views) {
  double stopped_at = kNever;
  for (const MemberView& view : views) {
    if (view.standing == Standing::kStopped) stopped_at = std::min(stopped_at, view.trainer->stopped_at);
  }
  if (stopped_at == kNever) return "";
  const double deadline = std::max(stopped_at + DeadlineSeconds(turn.state.tunables, job),
                                   turn.state.started + turn.state.tunables.reconnect_seconds);
  for (const MemberView& view : views) {
    if (view.standing != Standing::kAwaited) continue;
    if (view.trainer != nullptr && view.trainer->heard > stopped_at) continue;
    if (turn.now >= deadline) {
      return absl::StrCat("trainer ", ShortName(view.member->trainer()), " did not stop with the others and is silent");
    }
    turn.Wake(job, deadline);
  }
  return "";
}

// Returns the first evidence that the running generation cannot go on, or an empty string where there is none.
std::string FindFailure(Turn& turn, Job& job, const std::vector<MemberView>& views) {
  const v1::Membership& membership = job.record.membership();
  if (const std::string silent = FindSilentPeer(turn, job, views); !silent.empty()) return silent;
  for (const MemberView& view : views) {
    if (view.standing == Standing::kDead) return view.cause;
    if (view.trainer == nullptr || !view.trainer->reported) continue;
    const v1::TrainerReport& report = view.trainer->report;
    if (report.phase() == v1::TRAINER_INTERRUPTED && report.generation() == membership.generation()) {
      return DescribeInterruption(*view.trainer);
    }
  }
  if (!HasEnded(job)) {
    AwaitEnd(turn, job, views);
    return "";
  }
  double all_gone_at = 0;
  for (const MemberView& view : views) all_gone_at = std::max(all_gone_at, view.gone_at);
  if (turn.now >= all_gone_at) return "no member was heard of any more";
  turn.Wake(job, all_gone_at);
  return "";
}

// Completes a change of membership that was under way when a coordinator died. Its members have stopped as they were
// told.
void ResumeYield(Turn& turn, Job& job) {
  for (const v1::Member& member : job.record.membership().members()) {
    if (job.regroup.yielding) break;
    const Trainer* trainer = FindTrainer(job, member.trainer());
    if (trainer == nullptr || trainer->report.phase() != v1::TRAINER_QUIESCED) continue;
    if (trainer->report.generation() != job.record.membership().generation()) continue;
    job.regroup.yielding = true;
    job.regroup.SetYieldReason("a change of membership that was under way is completed");
  }
  ConsiderChange(turn, job);
}

void Watch(Turn& turn, Job& job) {
  const std::vector<MemberView> views = SurveyMembers(turn.state, job);
  (void)NoteEnd(turn, job, views);
  const std::string failure = FindFailure(turn, job, views);
  if (failure.empty()) {
    if (TryFinish(turn, job, views)) return;
    ResumeYield(turn, job);
    const bool all_stopped = std::all_of(views.begin(), views.end(),
                                         [](const MemberView& view) { return view.standing == Standing::kStopped; });
    if (job.regroup.yielding && all_stopped) OpenForming(turn, job, job.regroup.yield_reason, /*failure=*/false);
    return;
  }
  OpenForming(turn, job, failure, /*failure=*/true);
}

// Wakes the job at the time by which all members of a new generation count as gone if none of them says a word.
// Otherwise nothing would cause a look at the job then.
void WakeWhenGone(Turn& turn, Job& job) {
  double gone_at = 0;
  for (const v1::Member& member : job.record.membership().members()) {
    gone_at = std::max(gone_at, GoneAt(turn.state, job, FindTrainer(job, member.trainer())));
  }
  turn.Wake(job, gone_at);
}

// Returns whether the job was told to stop and its state is saved, so that its nodes can be released.
bool HasStopped(const Job& job) { return MustStop(job) && IsSaved(job); }

void DecideOnce(Turn& turn, Job& job) {
  EaseSuspicions(turn, job);
  CountCosts(turn, job);
  ForgetEndedNodes(turn, job);
  WatchFinal(turn, job);
  if (IsOver(job)) return;
  KeepBudget(turn, job);
  GrantSpending(turn, job);
  CountRoom(turn, job);
  KeepHalt(turn, job);
  TellGathered(turn, job);
  if (job.active) Watch(turn, job);
  if (job.active || IsOver(job)) return;
  TryForm(turn, job);
  if (!job.active) return;
  WakeWhenGone(turn, job);
  // If the generation was formed only to save the state, its members are told at once to stop at the first step
  // boundary.
  if (MustStop(job)) ConsiderChange(turn, job);
}

}  // namespace

void Advance(Turn& turn, Job& job) {
  job.wake_at = kNever;
  if (IsOver(job)) return;
  if (IsBehind(job)) ConsiderAdoption(turn, job);
  // Nothing may be decided on a record that is older than the generation in which the job's trainers are. But the job's
  // nodes still run, so its spending grant is renewed.
  if (IsBehind(job)) return GrantSpending(turn, job);
  const bool had_stopped = HasStopped(job);
  DecideOnce(turn, job);
  // A job that has stopped in this turn releases its nodes in the same turn, because its next event may come much
  // later.
  if (!had_stopped && !IsOver(job) && HasStopped(job)) DecideOnce(turn, job);
}

}  // namespace rekindle::core
