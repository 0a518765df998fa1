// Computes layer norm. Sixteen threads take a row, in the CPU's order (row_lanes.cuh). layer_norm_order.h has the order
// of the columns in the backward pass.
#include "kernels/cuda/layers/layer_norm_order.h"

#include <cmath>

#include "kernels/cuda/launch.h"
#include "kernels/cuda/layers/cuda_layers.h"
#include "kernels/cuda/layers/row_lanes.cuh"

namespace rekindle::cuda {
namespace {

// Returns the width rounded up to whole vectors. The CPU's last vector may be partial, and the missing elements have a
// value that changes no sum.
__device__ std::int64_t Padded(std::int64_t width) { return (width + kRowLanes - 1) / kRowLanes * kRowLanes; }
__device__ float At(const float* row, std::int64_t i, std::int64_t width, float beyond) {
  return i < width ? row[i] : beyond;
}

__global__ void ForwardKernel(RekindleLayerNormForward args, float share) {
  const RowLanes lanes;
  const std::int64_t width = args.width, padded = Padded(width);
  lanes.EachRow(args.rows, [&](std::int64_t r) {
    const float* row = args.x + r * width;
    float* out = args.y + r * width;
    float sum = 0, squares = 0;
    for (std::int64_t i = lanes.lane(); i < padded; i += kRowLanes) sum += At(row, i, width, 0);
    const float m = lanes.Sum(sum) * share;
    for (std::int64_t i = lanes.lane(); i < padded; i += kRowLanes) {
      const float d = At(row, i, width, m) - m;
      squares += d * d;
    }
    const float inv = 1.0f / std::sqrt(lanes.Sum(squares) * share + args.epsilon);
    for (std::int64_t i = lanes.lane(); i < width; i += kRowLanes) {
      out[i] = (row[i] - m) * inv * args.weight[i] + args.bias[i];
    }
    if (lanes.lane() == 0) {
      args.mean[r] = m;
      args.inverse[r] = inv;
    }
  });
}

__global__ void RowsBackwardKernel(RekindleLayerNormBackward args, float share) {
  const RowLanes lanes;
  const std::int64_t width = args.width, padded = Padded(width);
  lanes.EachRow(args.rows, [&](std::int64_t r) {
    const float* up = args.dy + r * width;
    const float* row = args.x + r * width;
    float* out = args.dx + r * width;
    const float m = args.mean[r], inv = args.inverse[r];
    float of_g = 0, of_gx = 0;
    for (std::int64_t i = lanes.lane(); i < padded; i += kRowLanes) {
      const float hat = (At(row, i, width, 0) - m) * inv, g = At(up, i, width, 0) * At(args.weight, i, width, 0);
      of_g += g;
      of_gx += g * hat;
    }
    const float mean_g = lanes.Sum(of_g) * share, mean_gx = lanes.Sum(of_gx) * share;
    for (std::int64_t i = lanes.lane(); i < width; i += kRowLanes) {
      const float hat = (row[i] - m) * inv, g = up[i] * args.weight[i];
      out[i] = (g - mean_g - hat * mean_gx) * inv;
    }
  });
}

// A thread block takes `kColumns` columns.
constexpr unsigned kColumns = 32;

__global__ void ChunksKernel(RekindleLayerNormBackward args) {
  __shared__ float of_weight[kColumnSums][kColumns], of_bias[kColumnSums][kColumns];
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * kColumns + threadIdx.x;
  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.y) * kChunkRows;
  const std::int64_t end = begin + kChunkRows < args.rows ? begin + kChunkRows : args.rows;
  float weight = 0, bias = 0;
  if (column < args.width) {
    for (std::int64_t r = begin + threadIdx.y; r < end; r += kColumnSums) {
      const float d = args.dy[r * args.width + column];
      weight += d * ((args.x[r * args.width + column] - args.mean[r]) * args.inverse[r]);
      bias += d;
    }
  }
  of_weight[threadIdx.y][threadIdx.x] = weight;
  of_bias[threadIdx.y][threadIdx.x] = bias;
  for (unsigned apart = kColumnSums / 2; apart > 0; apart /= 2) {
    __syncthreads();
    if (threadIdx.y < apart) {
      of_weight[threadIdx.y][threadIdx.x] += of_weight[threadIdx.y + apart][threadIdx.x];
      of_bias[threadIdx.y][threadIdx.x] += of_bias[threadIdx.y + apart][threadIdx.x];
    }
  }
  if (threadIdx.y == 0 && column < args.width) {
    const std::int64_t chunk = blockIdx.y, chunks = gridDim.y;
    args.scratch[chunk * args.width + column] = of_weight[0][threadIdx.x];
    args.scratch[(chunks + chunk) * args.width + column] = of_bias[0][threadIdx.x];
  }
}

__global__ void ColumnsKernel(RekindleLayerNormBackward args, std::int64_t chunks) {
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (column >= args.width) return;
  float weight = 0, bias = 0;
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
    weight += args.scratch[chunk * args.width + column];
    bias += args.scratch[(chunks + chunk) * args.width + column];
  }
  args.dweight[column] = weight;
  args.dbias[column] = bias;
}

unsigned Ceil(std::int64_t n, std::int64_t each) { return static_cast<unsigned>((n + each - 1) / each); }

}  // namespace

cudaError_t LayerNormForward(const RekindleLayerNormForward& args, cudaStream_t stream) {
  if (args.rows <= 0) return cudaSuccess;
  ForwardKernel<<<BlocksFor(static_cast<std::size_t>(args.rows), kRowsPerBlock), kThreads, 0, stream>>>(
      args, 1.0f / static_cast<float>(args.width));
  return cudaGetLastError();
}

cudaError_t LayerNormBackward(const RekindleLayerNormBackward& args, cudaStream_t stream) {
  // The second dimension of a CUDA grid has at most `kMostChunks` blocks.
  constexpr std::int64_t kMostChunks = 65535;
  const std::int64_t chunks = LayerNormChunks(args.rows);
  if (args.width <= 0 || chunks > kMostChunks) return cudaErrorInvalidValue;
  // The sums over columns come before dx, because they read dy, which dx may overwrite.
  if (chunks > 0) {
    const dim3 grid(Ceil(args.width, kColumns), static_cast<unsigned>(chunks));
    ChunksKernel<<<grid, dim3(kColumns, kColumnSums), 0, stream>>>(args);
  }
  ColumnsKernel<<<Ceil(args.width, kThreads), kThreads, 0, stream>>>(args, chunks);
  if (chunks > 0) {
    RowsBackwardKernel<<<BlocksFor(static_cast<std::size_t>(args.rows), kRowsPerBlock), kThreads, 0, stream>>>(
        args, 1.0f / static_cast<float>(args.width));
  }
  return cudaGetLastError();
}

}  // namespace rekindle::cuda
