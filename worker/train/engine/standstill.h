// Keeps a generation from stepping while it hears nothing from the coordinator, because another generation could begin
// elsewhere meanwhile. It stands still at a step boundary and goes on from there.
#ifndef REKINDLE_WORKER_TRAIN_ENGINE_STANDSTILL_H_
#define REKINDLE_WORKER_TRAIN_ENGINE_STANDSTILL_H_

#include "absl/status/status.h"
#include "worker/comm/contract/communicator.h"
#include "worker/train/control/lease.h"
#include "worker/train/control/membership.h"
#include "worker/train/engine/generation_parts.h"

namespace rekindle::train {

// Returns OK if what the ranks said about their leases still holds. This rank said it at `sent`, by the lease's clock.
// Returns ABORTED if the machine slept in between.
absl::Status CheckFresh(const Lease& lease, const Membership& membership, double sent);

// Saves the state, and waits until some rank hears from the coordinator again. The call is collective. Returns ABORTED
// if this rank must not go on.
absl::Status StandStill(const Membership& membership, comm::Communicator& communicator, const GenerationParts& parts);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_ENGINE_STANDSTILL_H_
