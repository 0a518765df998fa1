// Says how kernels over flat arrays are launched. This is internal to the plugin.
#ifndef REKINDLE_KERNELS_CUDA_LAUNCH_H_
#define REKINDLE_KERNELS_CUDA_LAUNCH_H_

#include <algorithm>
#include <cstddef>

namespace rekindle::cuda {

inline constexpr unsigned kThreads = 256;
// `kMaxBlocks` blocks fill any device. Each block strides over what is left, so the array may have any length.
inline constexpr std::size_t kMaxBlocks = 4096;

// Returns the number of blocks for n elements of which a block takes `each` at a time. REQUIRES: n > 0.
inline unsigned BlocksFor(std::size_t n, std::size_t each = kThreads) {
  return static_cast<unsigned>(std::min(kMaxBlocks, (n + each - 1) / each));
}

}  // namespace rekindle::cuda

#endif  // REKINDLE_KERNELS_CUDA_LAUNCH_H_
