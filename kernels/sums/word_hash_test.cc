#include "kernels/sums/word_hash.h"

#include <gtest/gtest.h>

#include <bit>
#include <set>
#include <utility>
#include <vector>

namespace rekindle::kernels {
namespace {

std::vector<uint32_t> Words(size_t n) {
  std::vector<uint32_t> words(n);
  uint32_t state = 1;
  for (uint32_t& word : words) word = state = state * 1664525u + 1013904223u;
  return words;
}

// The value is pinned, because the two holders of a shard compare hashes that different releases may have computed.
TEST(WordHash, IsPinned) {
  const std::vector<uint32_t> words = Words(1000);
  EXPECT_EQ(HashOfWords(words.data(), 1000), 9965157951544080624u);
  EXPECT_EQ(HashOfWords(words.data(), 0), 0u);
}

TEST(WordHash, PartsAddUp) {
  const std::vector<uint32_t> words = Words(1001);
  for (const int64_t cut : {0, 1, 17, 512, 1001}) {
    EXPECT_EQ(HashOfWords(words.data(), cut, 5) + HashOfWords(words.data() + cut, 1001 - cut, 5 + cut),
              HashOfWords(words.data(), 1001, 5))
        << cut;
  }
}

TEST(WordHash, ShowsEveryBitAndEveryPlace) {
  std::vector<uint32_t> words = Words(300);
  std::set<uint64_t> seen = {HashOfWords(words.data(), 300)};
  for (size_t i = 0; i < words.size(); ++i) {
    for (int bit = 0; bit < 32; ++bit) {
      words[i] ^= 1u << bit;
      EXPECT_TRUE(seen.insert(HashOfWords(words.data(), 300)).second) << i << ", bit " << bit;
      words[i] ^= 1u << bit;
    }
    const size_t next = (i + 1) % words.size();
    std::swap(words[i], words[next]);
    EXPECT_TRUE(seen.insert(HashOfWords(words.data(), 300)).second) << i << " and " << next << " exchanged";
    std::swap(words[i], words[next]);
  }
}

// A change of one word changes about half of the bits of the hash.
TEST(WordHash, MixesWell) {
  int64_t changed = 0, pairs = 0;
  for (uint32_t word = 0; word < 200; ++word) {
    for (int bit = 0; bit < 32; ++bit, ++pairs) {
      const uint32_t other = word ^ 1u << bit;
      changed += std::popcount(HashOfWords(&word, 1, 9) ^ HashOfWords(&other, 1, 9));
    }
  }
  EXPECT_NEAR(static_cast<double>(changed) / static_cast<double>(pairs), 32, 0.5);
}

}  // namespace
}  // namespace rekindle::kernels
