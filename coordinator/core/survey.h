// Where each member of the newest generation stands: dead, stopped, or still awaited, and until when.
// Evidence decides; a missing heartbeat alone does not.
#ifndef REKINDLE_COORDINATOR_CORE_SURVEY_H_
#define REKINDLE_COORDINATOR_CORE_SURVEY_H_

#include <string>
#include <vector>

#include "coordinator/core/state.h"

namespace rekindle::core {

enum class Standing {
  kDead,     // Certain: its agent, its node's new incarnation or itself said so; or it is put out of the job.
  kStopped,  // Says that its communicator is gone, and waits.
  kLeftOut,  // Silent for longer than its grace in this regroup.
  kAwaited,
};

struct MemberView {
  const v1::Member* member = nullptr;
  const Trainer* trainer = nullptr;  // Null: never heard of by this coordinator process.
  Standing standing = Standing::kAwaited;
  double give_up_at = kNever;  // When an awaited one is left out.
  double gone_at = kNever;     // When a silent one counts as gone for good (nobody else holds the state).
  std::string kind;            // Fault kind of its absence.
  std::string cause;           // Its sentence.
  bool by_silence = false;     // The verdict rests on silence, not on certain evidence.
};

std::vector<MemberView> SurveyMembers(const State& state, const Job& job);

// Was it left out for its silence, and may it still come back with what it holds?
inline bool MayReturn(const MemberView& view, double now) {
  return view.standing == Standing::kLeftOut && now < view.gone_at;
}

// In the words of one whose communicator has ended: whom it holds responsible, or else the error.
std::string DescribeInterruption(const Trainer& trainer);

// Seconds that a live rank may be silent without progress.
double DeadlineSeconds(const Tunables& tunables, const Job& job);

// When a trainer counts as gone for good if nothing more is heard of it.
double GoneAt(const State& state, const Job& job, const Trainer* trainer);

// The same while the next generation waits for it: one that is heard but never stops is given up, too.
double GivenUpAt(const State& state, const Job& job, const Trainer* trainer);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_SURVEY_H_
