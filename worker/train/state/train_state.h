// Holds the training state, which is all that shapes the next step, in plain memory without torch.
#ifndef REKINDLE_WORKER_TRAIN_STATE_TRAIN_STATE_H_
#define REKINDLE_WORKER_TRAIN_STATE_TRAIN_STATE_H_

#include <string>

#include "worker/contract/model_interface.h"
#include "worker/train/state/float_buffer.h"
#include "worker/train/state/state_scalars.h"

namespace rekindle::train {

struct TrainState {
  FloatBuffer weights;
  FloatBuffer first_moment;
  FloatBuffer second_moment;
  // `moments` is the number of moments that the optimizer keeps (OptimizerKind::moments).
  int moments = 2;
  StateScalars scalars;

  // Returns a state of zeros with the exponents of step 0 (kInitialExponent). Moments that the optimizer does not keep
  // take no memory and must stay zero. With `in_parts` the moments that it keeps also take no memory before they are
  // written.
  static TrainState Zero(const ParameterLayout& layout, int moments = 2, bool in_parts = false);
  // Gives back the memory of moments that the optimizer does not keep, in case zeros were written to them.
  void DropUnused();
};

// Returns the XXH3-128 hash in hex over the weights, the first moment, the second moment (raw little-endian floats in
// layout order) and the cursor as int64. Equal digests mean states with equal bits. The exponents, the loss scale and
// the levers are not hashed, because they follow from the same history.
std::string StateDigest(const TrainState& state);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_STATE_TRAIN_STATE_H_
