// Helps tests that feed parsers mutated input: makes reproducible edits and counts the memory that the program
// allocates meanwhile.
#ifndef REKINDLE_CHECKPOINT_TESTING_FUZZ_TESTING_H_
#define REKINDLE_CHECKPOINT_TESTING_FUZZ_TESTING_H_

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>

namespace rekindle::checkpoint {

inline constexpr int kFuzzIterations = 20'000;
inline constexpr uint64_t kFuzzSeed = 20240731;

// Makes one to four random edits to a text: bytes are changed, removed, repeated, or replaced by values that often
// break parsers.
std::string Mutate(std::string text, std::mt19937_64& random);

// Returns the bytes requested from operator new since the start of the program.
size_t AllocatedBytes();

inline std::span<const uint8_t> AsBytes(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_TESTING_FUZZ_TESTING_H_
