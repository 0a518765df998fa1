// Computes softmax cross-entropy with its gradient. Sixteen threads take a row, in the CPU's order (row_lanes.cuh).
// Exponentials are computed twice instead of kept, because writing and reading them back takes longer.
#include <cmath>

#include "kernels/cuda/launch.h"
#include "kernels/cuda/layers/cuda_layers.h"
#include "kernels/cuda/layers/row_lanes.cuh"
#include "kernels/vector/scalar_math.h"

namespace rekindle::cuda {
namespace {

using kernels::scalar::Exp;

// Returns the largest logit of a row. Returns NaN if the row has a NaN or if its maximum is infinite, because such a
// row has no loss.
__device__ float LargestOf(const RowLanes& lanes, const float* row, std::int64_t classes) {
  float largest = -INFINITY;
  bool nan = false;
  for (std::int64_t i = lanes.lane(); i < classes; i += kRowLanes) {
    const float x = row[i];
    largest = x > largest ? x : largest;
    nan |= x != x;
  }
  largest = lanes.Largest(largest);
  return lanes.Any(nan) || !isfinite(largest) ? NAN : largest;
}

__global__ void RowsKernel(RekindleCrossEntropy args) {
  const RowLanes lanes;
  const std::int64_t classes = args.classes;
  lanes.EachRow(args.rows, [&](std::int64_t r) {
    const float* row = args.logits + r * classes;
    float* out = args.gradient == nullptr ? nullptr : args.gradient + r * classes;
    const std::int64_t target = args.targets[r];
    const bool is_class = target >= 0 && target < classes;
    const float of_target = is_class ? row[target] : NAN;
    const float largest = is_class ? LargestOf(lanes, row, classes) : NAN;
    if (isnan(largest)) {
      if (lanes.lane() == 0) args.row_losses[r] = NAN;
      for (std::int64_t i = lanes.lane(); out != nullptr && i < classes; i += kRowLanes) out[i] = NAN;
      return;
    }
    float sum = 0;
    for (std::int64_t i = lanes.lane(); i < classes; i += kRowLanes) sum += Exp(row[i] - largest);
    // When Sum returns, all lanes have read the target's logit, so the row may be overwritten from then on.
    sum = lanes.Sum(sum);
    if (lanes.lane() == 0)
      args.row_losses[r] = log(static_cast<double>(sum)) + (static_cast<double>(largest) - of_target);
    if (out == nullptr) return;
    const float inverse = 1.0f / sum;
    for (std::int64_t i = lanes.lane(); i < classes; i += kRowLanes) {
      const float share = Exp(row[i] - largest) * inverse;
      out[i] = i == target ? share - 1.0f : share;
    }
  });
}

// Sums the losses of the rows. One block with one adding thread keeps the CPU's order of addition.
__global__ void SumKernel(const double* losses, std::int64_t rows, double* loss) {
  __shared__ double tile[kThreads];
  double sum = 0;
  for (std::int64_t begin = 0; begin < rows; begin += kThreads) {
    if (begin + threadIdx.x < rows) tile[threadIdx.x] = losses[begin + threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
      for (std::int64_t i = 0; i < kThreads && begin + i < rows; ++i) sum += tile[i];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) *loss = sum;
}

}  // namespace

cudaError_t CrossEntropy(const RekindleCrossEntropy& args, cudaStream_t stream) {
  if (args.classes <= 0) return cudaErrorInvalidValue;
  if (args.rows > 0) {
    RowsKernel<<<BlocksFor(static_cast<std::size_t>(args.rows), kRowsPerBlock), kThreads, 0, stream>>>(args);
    if (const cudaError_t code = cudaGetLastError(); code != cudaSuccess) return code;
  }
  SumKernel<<<1, kThreads, 0, stream>>>(args.row_losses, args.rows, args.loss);
  return cudaGetLastError();
}

}  // namespace rekindle::cuda
