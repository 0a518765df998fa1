// Scrambles 64-bit words, so that neighbouring inputs give outputs that have nothing in common.
#ifndef REKINDLE_KERNELS_VECTOR_SPLITMIX64_H_
#define REKINDLE_KERNELS_VECTOR_SPLITMIX64_H_

#include <cstdint>

#include "kernels/vector/device_function.h"

namespace rekindle::kernels {

// Returns the output of splitmix64 (Steele, Lea and Flood, 2014) for state `x`. The function must never change, since
// the order of samples, the initial weights and the records of steps follow from it.
REKINDLE_HOST_DEVICE inline uint64_t SplitMix64(uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

// Returns word number `counter` of the random stream `key`. Each word is computed without those before it.
REKINDLE_HOST_DEVICE inline uint64_t RandomWord(uint64_t key, uint64_t counter) {
  return SplitMix64(key + counter * 0x9E3779B97F4A7C15);
}

}  // namespace rekindle::kernels

#endif  // REKINDLE_KERNELS_VECTOR_SPLITMIX64_H_
