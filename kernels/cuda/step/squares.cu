// Sums the squares of pieces of a gradient in the CPU's order (kernels/sums/sum_of_squares.h). A thread block takes one
// piece at a time. All its threads square, and eight of them add, one for each of the CPU's eight interleaved sums.
#include "kernels/cuda/launch.h"
#include "kernels/cuda/step/cuda_kernels.h"
#include "kernels/sums/fixed_point_convert.h"

namespace rekindle::cuda {
namespace {

constexpr int kSums = 8;
// A thread block has up to `kTile` squares in shared memory at a time. `kTile` must be a multiple of kSums.
constexpr int kTile = 2048;

__device__ double ToDouble(float x) { return x; }
__device__ double ToDouble(std::int64_t x) { return kernels::FixedToDouble(x); }

template <typename T>
__global__ void SquaresKernel(const T* x, std::int64_t origin, const RekindlePiece* pieces, std::size_t n_pieces,
                              double* squares) {
  __shared__ double tile[kTile];
  for (std::size_t p = blockIdx.x; p < n_pieces; p += gridDim.x) {
    const RekindlePiece piece = pieces[p];
    double sum = 0;
    for (std::int64_t begin = 0; begin < piece.count; begin += kTile) {
      const int n = static_cast<int>(min(static_cast<std::int64_t>(kTile), piece.count - begin));
      const T* from = x + (piece.offset - origin) + begin;
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
      if (threadIdx.x == 0) squares[p] = sum;
    }
  }
}

}  // namespace

cudaError_t Squares(const RekindleSquares& args, cudaStream_t stream) {
  if (args.n_pieces == 0) return cudaSuccess;
  const unsigned blocks = BlocksFor(args.n_pieces, 1);
  if (args.fixed != nullptr) {
    SquaresKernel<<<blocks, kThreads, 0, stream>>>(args.fixed, args.origin, args.pieces, args.n_pieces, args.squares);
  } else {
    SquaresKernel<<<blocks, kThreads, 0, stream>>>(args.values, args.origin, args.pieces, args.n_pieces, args.squares);
  }
  return cudaGetLastError();
}

}  // namespace rekindle::cuda
