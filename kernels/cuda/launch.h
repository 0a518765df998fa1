// How kernels over flat arrays are launched. Internal to the plugin.
#ifndef REKINDLE_KERNELS_CUDA_LAUNCH_H_
#define REKINDLE_KERNELS_CUDA_LAUNCH_H_

#include <algorithm>
#include <cstddef>

namespace rekindle::cuda {

inline constexpr unsigned kThreads = 256;
// Enough blocks to fill any device; each strides over what is left, so that n has no limit.
inline constexpr std::size_t kMaxBlocks = 4096;

// For n things of which a block takes `each` at a time; n > 0.
inline unsigned BlocksFor(std::size_t n, std::size_t each = kThreads) {
  return static_cast<unsigned>(std::min(kMaxBlocks, (n + each - 1) / each));
}

}  // namespace rekindle::cuda

#endif  // REKINDLE_KERNELS_CUDA_LAUNCH_H_
