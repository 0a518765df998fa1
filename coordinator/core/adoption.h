// Trainers that live in a generation above the record's: the record was brought back from a copy, and is older than
// what runs. Their membership is taken over instead of being fought.
#ifndef REKINDLE_COORDINATOR_CORE_ADOPTION_H_
#define REKINDLE_COORDINATOR_CORE_ADOPTION_H_

#include <string>

#include "coordinator/core/state.h"

namespace rekindle::core {

inline constexpr int kMostAhead = 1'000'000;  // A generation that is further above the record's cannot be meant.

// Remembers whether that report is of a generation above the record's.
void NoteAhead(Job& job, const v1::TrainerReport& report);

// Nothing may be decided on such a record: somebody lives in a generation that it does not know.
bool IsBehind(const Job& job);

// Is that trainer to say which membership it is in?
bool MustTell(const Job& job, const std::string& trainer);

// After records were brought back from a copy: what trainers that wait have found in the store when they started may be
// older than what is there, and the record does not know either. They start anew and look again.
void StartWaitingAnew(Job& job);

// Takes over the highest membership that trainers report, where all that are heard in it agree: its members keep their
// slots before anybody else. Else says what is awaited. REQUIRES: IsBehind.
void ConsiderAdoption(Turn& turn, Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_ADOPTION_H_
