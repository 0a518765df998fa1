// Computes the norm of a gradient in the CPU's order (kernels/sums/sum_of_squares.h,
// worker/train/arithmetic/gradient_norm.h), and from the norm the factor by which the step scales the gradient. A
// thread block takes one piece of the gradient (RekindleCudaNormPiece) at a time. All its threads square, and eight of
// them add, one for each of the CPU's eight interleaved sums. Then one thread adds the pieces in order.
#include "kernels/cuda/launch.h"
#include "kernels/cuda/training.h"
#include "kernels/sums/fixed_point_convert.h"

namespace rekindle::cuda {
namespace {

constexpr int kSums = 8;
// A thread block has up to `kTile` squares in shared memory at a time. `kTile` must be a multiple of kSums.
constexpr int kTile = 2048;

__device__ double ToDouble(float x) { return x; }
__device__ double ToDouble(std::int64_t x) { return kernels::FixedToDouble(x); }

template <typename T>
__global__ void SquaresKernel(const T* x, const RekindleCudaNormPiece* pieces, std::size_t n_pieces, double* squares) {
  __shared__ double tile[kTile];
  for (std::size_t p = blockIdx.x; p < n_pieces; p += gridDim.x) {
    const RekindleCudaNormPiece piece = pieces[p];
    double sum = 0;
    for (int begin = 0; begin < piece.count; begin += kTile) {
      const int n = min(kTile, piece.count - begin);
      const T* from = x + piece.offset + begin;
      for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(kThreads)) {
        const double value = ToDouble(from[i]);
        tile[i] = value * value;
      }
      __syncthreads();
      if (threadIdx.x < kSums) {
#pragma unroll 8
        for (int i = static_cast<int>(threadIdx.x); i < n; i += kSums) sum += tile[i];
      }
      __syncthreads();
    }
    if (threadIdx.x < kSums) {
      // The eight interleaved sums are joined as ((0 + 1) + (2 + 3)) + ((4 + 5) + (6 + 7)).
      for (int apart = 1; apart < kSums; apart *= 2) sum += __shfl_xor_sync(0xffu, sum, apart);
      if (threadIdx.x == 0) squares[p] = ldexp(sum, -2 * piece.exponent);
    }
  }
}

__device__ RekindleCudaStep StepOf(double squares, double count, double clip_norm) {
  RekindleCudaStep step = {squares, sqrt(squares) / count, 0, 0};
  if (!isfinite(step.grad_norm)) {
    step.found_inf = 1;
    return step;
  }
  double clip = 1;
  if (clip_norm > 0) clip = min(1.0, clip_norm / (step.grad_norm + 1e-6));
  step.scale = clip / count;
  return step;
}

// One thread block is enough, because other blocks would wait for its one adding thread anyway.
__global__ void StepKernel(const RekindleCudaNormPiece* pieces, std::size_t n_pieces, const double* squares,
                           double count, double clip_norm, RekindleCudaStep* step) {
  __shared__ double tile[kThreads];
  __shared__ bool ends[kThreads];
  double total = 0, block = 0;
  for (std::size_t begin = 0; begin < n_pieces; begin += kThreads) {
    const std::size_t mine = begin + threadIdx.x;
    if (mine < n_pieces) {
      tile[threadIdx.x] = squares[mine];
      ends[threadIdx.x] = pieces[mine].ends_block != 0;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      for (std::size_t i = 0; i < kThreads && begin + i < n_pieces; ++i) {
        block += tile[i];
        if (!ends[i]) continue;
        total += block;
        block = 0;
      }
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) *step = StepOf(total + block, count, clip_norm);
}

}  // namespace

cudaError_t Norm(const RekindleCudaNorm& args, cudaStream_t stream) {
  if (args.n_pieces > 0) {
    const unsigned blocks = BlocksFor(args.n_pieces, 1);
    if (args.fixed != nullptr) {
      SquaresKernel<<<blocks, kThreads, 0, stream>>>(args.fixed, args.pieces, args.n_pieces, args.squares);
    } else {
      SquaresKernel<<<blocks, kThreads, 0, stream>>>(args.values, args.pieces, args.n_pieces, args.squares);
    }
    if (const cudaError_t code = cudaGetLastError(); code != cudaSuccess) return code;
  }
  StepKernel<<<1, kThreads, 0, stream>>>(args.pieces, args.n_pieces, args.squares, args.count, args.clip_norm,
                                         args.step);
  return cudaGetLastError();
}

}  // namespace rekindle::cuda
