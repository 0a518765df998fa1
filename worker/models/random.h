// Counter-based generators: value number i is a pure function of (key, i), so any process makes the same numbers
// without having made those before. Only exactly rounded operations (+, -, *, /, sqrt) are used, never the C library's
// log or sin, whose last bit depends on its version and the processor. Torch-free.
#ifndef REKINDLE_WORKER_MODELS_RANDOM_H_
#define REKINDLE_WORKER_MODELS_RANDOM_H_

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

namespace rekindle::models {

// Mixes words, in order, into one key.
uint64_t RandomKeyOf(std::initializer_list<uint64_t> words);
// The 64-bit FNV-1a hash of a name, for use as such a word.
uint64_t NameWord(std::string_view name);

// values[i] = normal with mean 0 (Box and Muller, 1958), in double, rounded to float at the end.
void FillNormal(uint64_t key, double deviation, std::span<float> values);

// values[i] = 0 with probability `drop`, else 1 / (1 - drop). REQUIRES 0 <= drop < 1. Resolution 2^-32.
void FillDropoutMask(uint64_t key, double drop, std::span<float> values);

}  // namespace rekindle::models

#endif  // REKINDLE_WORKER_MODELS_RANDOM_H_
