#include "kernels/cuda/step/cuda_kernels.h"
#include "kernels/cuda/step/update.cuh"
#include "kernels/optimizers/lion.h"
#include "kernels/optimizers/lion_element.h"

namespace rekindle::cuda {

cudaError_t UpdateLion(const RekindleUpdate& args, cudaStream_t stream) {
  return LaunchUpdate(args, kernels::LionOf(args), stream);
}

}  // namespace rekindle::cuda
