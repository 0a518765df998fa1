// Sets a job aside whose record cannot be right. A record comes from a disk, where a bit may flip, or from another
// release. A job that is set aside is PAUSED, and its status says what is wrong, while the other jobs go on.
#ifndef REKINDLE_COORDINATOR_CORE_TAKEN_OVER_SET_ASIDE_H_
#define REKINDLE_COORDINATOR_CORE_TAKEN_OVER_SET_ASIDE_H_

#include <string>

#include "absl/status/status.h"
#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Returns, as a part of a sentence, what in the job's record cannot be right. Returns an empty string where the record
// is sound.
std::string FindFlawInRecord(const Job& job);

// Pauses the job, and takes out of its record what cannot be used: its membership, and sums of money that are no
// numbers. From then on the job is like one that was brought back from its store (recovered.h). Its members, if they
// live, say which membership they are in, and are taken over. If none lives, its user lets the job go on. REQUIRES: the
// job is not over, and `flaw` is what FindFlawInRecord has returned.
void SetAside(Turn& turn, Job& job, const std::string& flaw);

// Returns FAILED_PRECONDITION where the job was set aside and its record is still of no use, because no step can be
// made with it.
absl::Status CheckSetAside(const Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_TAKEN_OVER_SET_ASIDE_H_
