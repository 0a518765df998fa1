// Finds records that are older than what lives. A record that was brought back from a copy may be: a trainer may report
// a generation above the one that the record knows. Nothing is decided on such a record until all that is known to live
// has told its membership.
#ifndef REKINDLE_COORDINATOR_CORE_RECORD_RECORD_AGE_H_
#define REKINDLE_COORDINATOR_CORE_RECORD_RECORD_AGE_H_

#include <string>

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

inline constexpr char kBroughtBack[] = "brought back from its store";
// A reported generation that is further above the record's than this must be an error.
inline constexpr int kMostAhead = 1'000'000;

// Remembers whether that report is from a generation above the record's.
void NoteAhead(Job& job, const v1::TrainerReport& report);

// Returns whether somebody lives in a generation that the record does not know, or may do so. Nothing may be decided on
// such a record.
bool IsBehind(const Job& job);

// Returns whether that trainer has to report which membership it is in.
bool MustTell(const Job& job, const std::string& trainer);

// Returns whether the job was brought back from its store and trainers from before are still awaited.
bool AwaitsOld(const Job& job);

// Ends the wait for trainers from before.
void ForgetOld(const Turn& turn, Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_RECORD_RECORD_AGE_H_
