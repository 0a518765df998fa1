// Has the factors of a step of stochastic gradient descent, which the CPU code and the CUDA kernel share.
#ifndef REKINDLE_KERNELS_OPTIMIZERS_SGD_FACTORS_H_
#define REKINDLE_KERNELS_OPTIMIZERS_SGD_FACTORS_H_

namespace rekindle::kernels {

struct Sgd {
  float weight_decay = 0;
  float momentum = 0;
  // `step_size` is the learning rate.
  float step_size = 0;
};

}  // namespace rekindle::kernels

#endif  // REKINDLE_KERNELS_OPTIMIZERS_SGD_FACTORS_H_
