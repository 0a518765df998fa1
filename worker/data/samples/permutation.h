// Implements a keyed permutation of [0, size) in O(1) memory. It makes the order of samples a pure function of (key,
// size).
//
// The permutation is a balanced Feistel network over the smallest even number of bits that holds `size`, with cycle
// walking: values that land outside of [0, size) are permuted again until they land inside, fewer than four times on
// average (Black and Rogaway, "Ciphers with Arbitrary Finite Domains", 2002). It is not meant to keep secrets.
#ifndef REKINDLE_WORKER_DATA_SAMPLES_PERMUTATION_H_
#define REKINDLE_WORKER_DATA_SAMPLES_PERMUTATION_H_

#include <array>
#include <cstdint>

namespace rekindle::data {

// A Permutation is immutable, so threads may share it.
class Permutation {
 public:
  // `seed` and `epoch` together are the key of the permutation. REQUIRES: 1 <= size <= 2^62.
  Permutation(uint64_t seed, uint64_t epoch, uint64_t size);

  // Maps [0, size) to itself, one to one. REQUIRES: 0 <= index < size.
  uint64_t operator()(uint64_t index) const;

 private:
  static constexpr int kRounds = 8;

  uint64_t Encrypt(uint64_t value) const;

  uint64_t size_;
  int half_bits_;
  uint64_t half_mask_;
  std::array<uint64_t, kRounds> keys_;
};

// Returns the order in which evaluations read `size` validation samples. It is the same one for every job, so that
// evaluations of several jobs can be compared. REQUIRES: 1 <= size <= 2^62.
Permutation ValidationOrder(uint64_t size);

}  // namespace rekindle::data

#endif  // REKINDLE_WORKER_DATA_SAMPLES_PERMUTATION_H_
