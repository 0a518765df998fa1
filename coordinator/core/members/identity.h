// Compares the identity of trainers: their data, and with `reduce: exact` their arithmetic too. Trainers of one job
// must be alike in both. Sums of gradients over different data, or of different bits, are wrong, and nobody could tell
// afterwards.
#ifndef REKINDLE_COORDINATOR_CORE_MEMBERS_IDENTITY_H_
#define REKINDLE_COORDINATOR_CORE_MEMBERS_IDENTITY_H_

#include <string>

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Returns how the trainer that sent the report differs from the identity in the job's record, or an empty string where
// it does not.
std::string DescribeDifference(const State& state, const Job& job, const v1::TrainerReport& report);

// Remembers the identity of a candidate, as long as the job has never formed a membership. `is_new` says that the
// candidate has just become READY.
void RememberIdentity(const Turn& turn, Job& job, const v1::TrainerReport& report, bool is_new);

// Compares the identities of the candidates before the job's first membership. Returns an empty string where all are
// alike, else what each group of them has and how to go on. While they differ, no membership is formed, neither of the
// majority nor of those that came first. Trainers start anew now and then, so that they see files that were mended.
std::string AwaitOneGroup(Turn& turn, Job& job);

// Returns whether the candidate was among those that AwaitOneGroup compared. A candidate whose slot was taken from the
// job was left out. REQUIRES: AwaitOneGroup returned "".
bool IsCompared(const Job& job, const std::string& trainer);

// Makes the identity of the first membership's members the job's own.
void RecordIdentity(Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_MEMBERS_IDENTITY_H_
