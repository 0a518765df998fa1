// Keeps a generation from stepping while it hears nothing from the coordinator, because another generation could begin
// elsewhere meanwhile. The generation stands still at a step boundary and later goes on from there.
#ifndef REKINDLE_WORKER_TRAIN_ENGINE_STANDSTILL_H_
#define REKINDLE_WORKER_TRAIN_ENGINE_STANDSTILL_H_

#include "absl/status/status.h"
#include "worker/comm/contract/communicator.h"
#include "worker/train/control/lease.h"
#include "worker/train/control/membership.h"
#include "worker/train/engine/generation_parts.h"

namespace rekindle::train {

// Returns OK if this rank may still rely on the messages in which the ranks told each other that their leases hold.
// `sent` is the time, by the lease's clock, at which this rank sent its own message. Returns ABORTED if the messages
// are too old because the machine slept after that time.
absl::Status CheckFresh(const Lease& lease, const Membership& membership, double sent);

// Saves the state, and waits until the lease of some rank holds again. The call is collective. Returns ABORTED if this
// rank must not go on.
absl::Status StandStill(const Membership& membership, comm::Communicator& communicator, const GenerationParts& parts);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_ENGINE_STANDSTILL_H_
