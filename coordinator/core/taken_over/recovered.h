// Handles a job that was brought back from its checkpoint store, with nothing else left of its coordinator. Its earlier
// trainers may live and step. Until one of them is heard of, or its user says that none runs any more, nothing is
// decided for it.
#ifndef REKINDLE_COORDINATOR_CORE_TAKEN_OVER_RECOVERED_H_
#define REKINDLE_COORDINATOR_CORE_TAKEN_OVER_RECOVERED_H_

#include <string>

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Gives the job its old secret back when an earlier trainer knows it, because the store does not keep the secret.
void TakeOldSecret(const Turn& turn, Job& job, const std::string& secret);

// Notes a trainer that reports neither the job's new secret nor its old one. The trainer is left alone, because it may
// be newer than the record in the store. REQUIRES: AwaitsOld(job) is true.
void NoteStranger(const Turn& turn, Job& job, const std::string& trainer);

// Shows in the job's status that its earlier trainers are awaited. REQUIRES: none of them is heard of now. Some may
// have been heard of, and have died.
void ShowAwaitedOld(const Turn& turn, Job& job);

// Returns why the user may give no command for the job but `cancel` or `resume --old-is-gone`. REQUIRES: AwaitsOld(job)
// is true.
std::string DescribeAwaitedOld(const Job& job);

// Takes the user's word that none of the job's earlier trainers runs. Returns FAILED_PRECONDITION, and changes nothing,
// where some are heard of.
absl::Status GiveOldUp(Turn& turn, Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_TAKEN_OVER_RECOVERED_H_
