// Scrambles 64-bit words, so that neighbouring inputs give outputs that have nothing in common.
#ifndef REKINDLE_WORKER_NUMERIC_SPLITMIX64_H_
#define REKINDLE_WORKER_NUMERIC_SPLITMIX64_H_

#include <cstdint>

namespace rekindle::models {

// Returns the output of splitmix64 (Steele, Lea and Flood, 2014) for state `x`. The function must never change, since
// the order of samples, the initial weights and the records of steps follow from it.
inline uint64_t SplitMix64(uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

}  // namespace rekindle::models

#endif  // REKINDLE_WORKER_NUMERIC_SPLITMIX64_H_
