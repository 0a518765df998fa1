// For tests that feed parsers mutated input: reproducible edits, and what the program allocates meanwhile.
#ifndef REKINDLE_CHECKPOINT_FUZZ_TESTING_H_
#define REKINDLE_CHECKPOINT_FUZZ_TESTING_H_

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>

namespace rekindle::checkpoint {

inline constexpr int kFuzzIterations = 20'000;
inline constexpr uint64_t kFuzzSeed = 20240731;

// One to four random edits: bytes changed, removed, repeated, or replaced by what parsers stumble over.
std::string Mutate(std::string text, std::mt19937_64& random);

// Bytes asked of operator new since the start of the program.
size_t AllocatedBytes();

inline std::span<const uint8_t> AsBytes(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_FUZZ_TESTING_H_
