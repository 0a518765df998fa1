// Has the factors of a step of AdamW, which the CPU code and the CUDA kernel share.
#ifndef REKINDLE_KERNELS_OPTIMIZERS_ADAMW_FACTORS_H_
#define REKINDLE_KERNELS_OPTIMIZERS_ADAMW_FACTORS_H_

namespace rekindle::kernels {

// Holds the factors of one step, computed from the hyper-parameters in double (see MakeAdamw in adamw.h).
struct Adamw {
  // The weights are multiplied by `decay`, which is 1 - learning_rate * weight_decay.
  float decay = 1;
  // `rate1` is 1 - beta1, the share of the gradient in the new first moment.
  float rate1 = 0;
  float beta2 = 0;
  // `rate2` is 1 - beta2, the share of the squared gradient in the new second moment.
  float rate2 = 0;
  // The root of the second moment is multiplied by `correction2`, which is 1 / sqrt(1 - beta2^step).
  float correction2 = 1;
  float epsilon = 0;
  // `step_size` is learning_rate / (1 - beta1^step), which contains the bias correction of the first moment.
  float step_size = 0;
};

}  // namespace rekindle::kernels

#endif  // REKINDLE_KERNELS_OPTIMIZERS_ADAMW_FACTORS_H_
