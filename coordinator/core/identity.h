// What a trainer computes with: its data, and with `reduce: exact` its arithmetic too. Trainers of one job must be
// alike in it: sums of gradients over different data, or of other bits, are wrong, and nobody could tell afterwards.
#ifndef REKINDLE_COORDINATOR_CORE_IDENTITY_H_
#define REKINDLE_COORDINATOR_CORE_IDENTITY_H_

#include <string>

#include "coordinator/core/state.h"

namespace rekindle::core {

// Empty, or how that trainer differs from what the job's record says.
std::string DescribeDifference(const Job& job, const v1::TrainerReport& report);

// Remembers what the candidates of a job are that has never formed a membership. `is_new`: it has just become READY.
void RememberIdentity(const Turn& turn, Job& job, const v1::TrainerReport& report, bool is_new);

// Before the first membership: empty where all candidates are alike, else what each group of them has and how to go on.
// While they differ nothing is formed, neither by majority nor by who was first; trainers start anew now and then, so
// that files that were mended are seen.
std::string AwaitOneGroup(Turn& turn, Job& job);

// Whether that candidate was among those that were found alike: its slot may have been taken from the job since it
// came. REQUIRES: AwaitOneGroup answered "".
bool IsCompared(const Job& job, const std::string& trainer);

// The first membership makes what its members are the job's own.
void RecordIdentity(Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_IDENTITY_H_
