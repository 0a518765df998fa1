// Computes a micro-batch in two processes before anything is trained, and compares what they give.
#ifndef REKINDLE_WORKER_OWN_MODEL_MODEL_REHEARSAL_H_
#define REKINDLE_WORKER_OWN_MODEL_MODEL_REHEARSAL_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "worker/own_model/model/own_model.h"

namespace rekindle::own_model {

struct RehearsalOptions {
  uint64_t seed = 0;
  // A micro-batch has so many samples. They are the first ones of the data.
  int samples = 1;
  // Says whether the job's results have to be equal bit for bit. If not, a difference is logged and nothing more.
  bool exact = true;
};

// Computes loss and gradients of two micro-batches by the present process of `model`, which must have computed nothing,
// replaces it, and computes the second micro-batch again. Returns a digest of all of them. Trainers whose tasks compute
// the same bits get the same one. Returns INVALID_ARGUMENT with the name of what differs if the two processes do not
// agree, or if a loss is NaN, RESOURCE_EXHAUSTED if there is not even memory for a micro-batch of the smallest size,
// UNAVAILABLE if another try may succeed, and the other errors of Backward().
absl::StatusOr<std::string> Rehearse(OwnModel& model, const RehearsalOptions& options);

}  // namespace rekindle::own_model

#endif  // REKINDLE_WORKER_OWN_MODEL_MODEL_REHEARSAL_H_
