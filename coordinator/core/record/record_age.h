// Finds records of jobs that are older than what the jobs' living trainers report. A record that was brought back from
// a copy may be older: then a trainer may report a generation above the one that the record knows. Nothing is decided
// on such a record until all trainers that are known to live have told their membership.
#ifndef REKINDLE_COORDINATOR_CORE_RECORD_RECORD_AGE_H_
#define REKINDLE_COORDINATOR_CORE_RECORD_RECORD_AGE_H_

#include <string>

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

inline constexpr char kBroughtBack[] = "brought back from its store";
// A reported generation that is further above the record's than this must be an error.
inline constexpr int kMostAhead = 1'000'000;

// Remembers whether the trainer that sent the report is in a generation above the record's.
void NoteAhead(Job& job, const v1::TrainerReport& report);

// Returns whether a trainer of the job lives, or may live, in a generation that the job's record does not know. Nothing
// may be decided on such a record.
bool IsBehind(const Job& job);

// Returns whether the trainer has to report which membership it is in, because its generation is above the record's.
bool MustTell(const Job& job, const std::string& trainer);

// Returns whether the job was brought back from its store and its earlier trainers are still awaited.
bool AwaitsOld(const Job& job);

// Ends the wait for the earlier trainers of a job that was brought back from its store.
void ForgetOld(const Turn& turn, Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_RECORD_RECORD_AGE_H_
