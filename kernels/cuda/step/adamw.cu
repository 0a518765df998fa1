#include "kernels/cuda/step/cuda_kernels.h"
#include "kernels/cuda/step/update.cuh"
#include "kernels/optimizers/adamw.h"
#include "kernels/optimizers/adamw_element.h"

namespace rekindle::cuda {

cudaError_t UpdateAdamw(const RekindleUpdate& args, cudaStream_t stream) {
  return LaunchUpdate(args, kernels::AdamwOf(args), stream);
}

}  // namespace rekindle::cuda
