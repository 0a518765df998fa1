// Has the factors of a step of Lion, which the CPU code and the CUDA kernel share.
#ifndef REKINDLE_KERNELS_OPTIMIZERS_LION_FACTORS_H_
#define REKINDLE_KERNELS_OPTIMIZERS_LION_FACTORS_H_

namespace rekindle::kernels {

struct Lion {
  // The weights are multiplied by `decay`, which is 1 - learning_rate * weight_decay.
  float decay = 1;
  // `rate1` is 1 - beta1, the share of the gradient in the direction of the step.
  float rate1 = 0;
  // `rate2` is 1 - beta2, the share of the gradient in the new momentum.
  float rate2 = 0;
  // `step_size` is the learning rate.
  float step_size = 0;
};

}  // namespace rekindle::kernels

#endif  // REKINDLE_KERNELS_OPTIMIZERS_LION_FACTORS_H_
