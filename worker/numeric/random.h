// Provides counter-based random generators. Value number i is a pure function of (key, i), so any process can compute
// it without the values before it. Only exactly rounded operations (+, -, *, /, sqrt) are used. The C library's log and
// sin are avoided, because the last bit of their results depends on the library's version and the processor. This file
// does not use torch.
#ifndef REKINDLE_WORKER_NUMERIC_RANDOM_H_
#define REKINDLE_WORKER_NUMERIC_RANDOM_H_

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

namespace rekindle::models {

// Mixes the words, in their order, into one key of a random stream.
uint64_t RandomKeyOf(std::initializer_list<uint64_t> words);
// Returns the 64-bit FNV-1a hash of a name, for use as a word of RandomKeyOf.
uint64_t NameWord(std::string_view name);

// Fills `values` with normal numbers of mean 0 and standard deviation `deviation` (Box and Muller, 1958). They are
// computed in double and rounded to float at the end.
void FillNormal(uint64_t key, double deviation, std::span<float> values);

}  // namespace rekindle::models

#endif  // REKINDLE_WORKER_NUMERIC_RANDOM_H_
