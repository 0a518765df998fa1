// Makes the masks of dropout. An element is a pure function of a key and of its place. So a micro-batch that is
// computed again has the same masks, on the processor or on a GPU.
#ifndef REKINDLE_KERNELS_LAYERS_DROPOUT_MASK_H_
#define REKINDLE_KERNELS_LAYERS_DROPOUT_MASK_H_

#include <cstddef>
#include <cstdint>

// Sets each element of a mask to 0 with probability threshold / 2^32, else to `kept`.
struct RekindleDropoutMask {
  std::uint64_t key;
  std::uint32_t threshold;
  float kept;
  std::size_t n;
  float* mask;
};

namespace rekindle::kernels {

// Returns the arguments for a mask that sets elements to 0 with probability `drop`, and the others to 1 / (1 - drop).
// So the mean stays the same (Srivastava et al., 2014). REQUIRES: 0 <= drop < 1.
RekindleDropoutMask DropoutMaskOf(uint64_t key, double drop, size_t n, float* mask);

// Fills the mask. The function is pure and thread-safe.
void FillDropoutMask(const RekindleDropoutMask& arguments);

}  // namespace rekindle::kernels

#endif  // REKINDLE_KERNELS_LAYERS_DROPOUT_MASK_H_
