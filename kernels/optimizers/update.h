// Updates a part of a parameter by the elementwise optimizer that its arguments name. Each optimizer computes its
// factors from the hyper-parameters once, and then each element by itself, so any cut of the arrays gives the same
// bits.
//
// The functions are pure and thread-safe.
#ifndef REKINDLE_KERNELS_OPTIMIZERS_UPDATE_H_
#define REKINDLE_KERNELS_OPTIMIZERS_UPDATE_H_

#include <cstddef>
#include <cstdint>

#include "kernels/optimizers/optimizer_list.h"

// Numbers the optimizers. The numbers pass between programs of one build only.
enum RekindleOptimizer : std::uint32_t {
#define REKINDLE_NUMBER(Name) kRekindle##Name,
  REKINDLE_ELEMENTWISE_OPTIMIZERS(REKINDLE_NUMBER)
#undef REKINDLE_NUMBER
};

// Describes an update, on the processor and on a GPU. An optimizer ignores the hyper-parameters that it does not have.
struct RekindleUpdate {
  RekindleOptimizer optimizer;
  double learning_rate;
  // `weight_decay` is 0 for parameters that are not decayed.
  double weight_decay;
  double beta1;
  double beta2;
  double epsilon;
  double momentum;
  // `step` is the number of the step that the update makes, counted from 1.
  std::int64_t step;
  // The gradient is fixed * scale if `fixed` is not null, and values * scale otherwise. The scale includes the mean,
  // the clipping and the unit of the fixed point.
  const float* values;
  const std::int64_t* fixed;
  double scale;
  std::size_t n;
  // These are the old values. A moment that the optimizer does not keep is null.
  const float* weights;
  const float* first_moment;
  const float* second_moment;
  // These receive the new values. Each array may be the one of the old values, and otherwise overlaps none of the
  // others. Values whose array is null are not kept.
  float* new_weights;
  float* new_first_moment;
  float* new_second_moment;
  // If `bf16` or `fp16` is not null, it gets the new weights, rounded to nearest even.
  std::uint16_t* bf16;
  std::uint16_t* fp16;
};

namespace rekindle::kernels {

void Update(const RekindleUpdate& update);

// Updates new_weights, new_first_moment and new_second_moment in place by one of the optimizers, and reads no other
// arrays than these and the gradient. REQUIRES: none of these arrays is null, if the optimizer keeps its values.
#define REKINDLE_DECLARE(Name) void Update##Name(const RekindleUpdate& update);
REKINDLE_ELEMENTWISE_OPTIMIZERS(REKINDLE_DECLARE)
#undef REKINDLE_DECLARE

// Calls `pass` with the gradient of the update and its scale, in the types that the kernels take.
template <typename Pass>
auto WithGradient(const RekindleUpdate& update, const Pass& pass) {
  return update.fixed != nullptr ? pass(update.fixed, update.scale)
                                 : pass(update.values, static_cast<float>(update.scale));
}

}  // namespace rekindle::kernels

#endif  // REKINDLE_KERNELS_OPTIMIZERS_UPDATE_H_
