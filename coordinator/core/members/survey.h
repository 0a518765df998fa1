// Surveys where each member of the newest generation stands: dead, stopped, or still awaited, and until when. Evidence
// decides; a missing heartbeat alone does not.
#ifndef REKINDLE_COORDINATOR_CORE_MEMBERS_SURVEY_H_
#define REKINDLE_COORDINATOR_CORE_MEMBERS_SURVEY_H_

#include <string>
#include <vector>

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

enum class Standing {
  // The member is certainly dead: its agent, its node's new incarnation or the trainer itself said so, or it was
  // removed from the job.
  kDead,
  // The member has stopped: it says that its communicator is gone, and waits to be told how to go on.
  kStopped,
  // The member has not stopped within the time that it had to stop in the running regroup, or has become silent since
  // it stopped.
  kLeftOut,
  kAwaited,
};

struct MemberView {
  const v1::Member* member = nullptr;
  // `trainer` is null where this coordinator process has never heard of the member's trainer.
  const Trainer* trainer = nullptr;
  Standing standing = Standing::kAwaited;
  // `give_up_at` is when an awaited member is left out.
  double give_up_at = kNever;
  // `gone_at` is when a silent member counts as gone for good, which matters where nobody else holds the state.
  double gone_at = kNever;
  // `kind` is the fault kind of the member's absence.
  std::string kind;
  // `cause` is the sentence that explains the member's absence.
  std::string cause;
  // `by_silence` says that the verdict on the member rests on silence, not on certain evidence.
  bool by_silence = false;
};

std::vector<MemberView> SurveyMembers(const State& state, const Job& job);

// Leaves out the members that have stopped and of which nothing was heard since for so long that they count as gone.
void LeaveOutSilent(const State& state, const Job& job, double now, std::vector<MemberView>& views);

// Returns whether the member was left out for its silence and may still come back with what it holds.
inline bool MayReturn(const MemberView& view, double now) {
  return view.standing == Standing::kLeftOut && now < view.gone_at;
}

// Returns a sentence on why a trainer's communicator has ended. It names the trainer that is held responsible, or else
// the error.
std::string DescribeInterruption(const Trainer& trainer);

// Returns how many seconds a live rank may be silent without progress.
double DeadlineSeconds(const Tunables& tunables, const Job& job);

// Returns the time at which a trainer counts as gone for good if nothing more is heard of it.
double GoneAt(const State& state, const Job& job, const Trainer* trainer);

// Returns the time at which a trainer counts as gone for good while the next generation waits for it. A trainer that
// reports but never stops is given up at that time, too.
double GivenUpAt(const State& state, const Job& job, const Trainer* trainer);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_MEMBERS_SURVEY_H_
