// Hashes words in any order, as threads of a GPU need it: the hash is the sum of the hashes of all words with their
// places. It tells computers apart that compute differently. It is no protection against somebody who looks for a
// collision.
//
// The function is pure and thread-safe.
#ifndef REKINDLE_KERNELS_SUMS_WORD_HASH_H_
#define REKINDLE_KERNELS_SUMS_WORD_HASH_H_

#include <cstdint>

namespace rekindle::kernels {

// Returns the hash of n words, of which the first has the place `first`. The hashes of the parts of an array add up to
// the hash of the whole, modulo 2^64.
uint64_t HashOfWords(const uint32_t* words, int64_t n, uint64_t first = 0);

}  // namespace rekindle::kernels

#endif  // REKINDLE_KERNELS_SUMS_WORD_HASH_H_
