// Hashes one word with its place. The CPU's loop and the CUDA kernel share this arithmetic. This is internal to
// kernels/.
#ifndef REKINDLE_KERNELS_SUMS_WORD_HASH_ELEMENT_H_
#define REKINDLE_KERNELS_SUMS_WORD_HASH_ELEMENT_H_

#include <cstdint>

#include "kernels/vector/clones.h"

namespace rekindle::kernels {

// Is the finalizer of MurmurHash3 for 32 bits (Appleby, 2011). Every bit of `x` changes about half of the result.
REKINDLE_INLINE uint32_t MixedWord(uint32_t x) {
  x ^= x >> 16;
  x *= 0x85ebca6bu;
  x ^= x >> 13;
  x *= 0xc2b2ae35u;
  return x ^ x >> 16;
}

// Returns the hash of a word at a place. It needs no multiplication of 64 bits, which is slow on a GPU.
REKINDLE_INLINE uint64_t HashOfWord(uint32_t word, uint64_t place) {
  const auto low = static_cast<uint32_t>(place), high = static_cast<uint32_t>(place >> 32);
  const uint32_t first = MixedWord(word ^ MixedWord(low * 0x9e3779b1u + high));
  const uint32_t second = MixedWord(first + 0x7feb352du * (low + 1));
  return static_cast<uint64_t>(first) << 32 | second;
}

}  // namespace rekindle::kernels

#endif  // REKINDLE_KERNELS_SUMS_WORD_HASH_ELEMENT_H_
