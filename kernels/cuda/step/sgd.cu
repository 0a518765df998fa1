#include "kernels/cuda/step/cuda_kernels.h"
#include "kernels/cuda/step/update.cuh"
#include "kernels/optimizers/sgd.h"
#include "kernels/optimizers/sgd_element.h"

namespace rekindle::cuda {

cudaError_t UpdateSgd(const RekindleUpdate& args, cudaStream_t stream) {
  return LaunchUpdate(args, kernels::SgdOf(args), stream);
}

}  // namespace rekindle::cuda
