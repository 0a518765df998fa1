// Hashes words with their places. The sum of integers does not depend on the order of threads.
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/step/cuda_kernels.h"
#include "kernels/sums/word_hash_element.h"

namespace rekindle::cuda {
namespace {

// Whole warps run the kernel, so that each can add up what its threads have found.
__global__ void HashKernel(RekindleHash args) {
  unsigned long long sum = 0;
  EachElement(args.n, [&](std::size_t i) { sum += kernels::HashOfWord(args.words[i], args.first + i); });
  for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, apart);
  if (threadIdx.x % 32 == 0) atomicAdd(reinterpret_cast<unsigned long long*>(args.hash), sum);
}

}  // namespace

cudaError_t Hash(const RekindleHash& args, cudaStream_t stream) {
  if (args.n == 0) return cudaSuccess;
  HashKernel<<<BlocksFor(args.n), kThreads, 0, stream>>>(args);
  return cudaGetLastError();
}

}  // namespace rekindle::cuda
