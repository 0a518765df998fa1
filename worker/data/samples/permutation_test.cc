#include "worker/data/samples/permutation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace rekindle::data {
namespace {

TEST(PermutationTest, IsABijectionForEverySmallSize) {
  for (uint64_t size = 1; size <= 1100; ++size) {
    Permutation permutation(7, size % 5, size);
    std::vector<bool> seen(size, false);
    for (uint64_t i = 0; i < size; ++i) {
      uint64_t place = permutation(i);
      ASSERT_LT(place, size);
      ASSERT_FALSE(seen[place]) << "size " << size << ", place " << place << " twice";
      seen[place] = true;
    }
  }
}

TEST(PermutationTest, IsABijectionAroundAPowerOfFour) {
  for (uint64_t size : {(1u << 16) - 1, 1u << 16, (1u << 16) + 1, 100003u}) {
    Permutation permutation(1, 2, size);
    std::vector<bool> seen(size, false);
    for (uint64_t i = 0; i < size; ++i) seen[permutation(i)] = true;
    for (uint64_t i = 0; i < size; ++i) ASSERT_TRUE(seen[i]) << "size " << size;
  }
}

TEST(PermutationTest, StaysInsideHugeSizes) {
  uint64_t size = (uint64_t{1} << 62) - 12345;
  Permutation permutation(3, 0, size);
  for (uint64_t i = 0; i < 1000; ++i) {
    EXPECT_LT(permutation(i), size);
    EXPECT_LT(permutation(size - 1 - i), size);
  }
}

// The order of the samples is part of a run's result, so the expected values may never change.
TEST(PermutationTest, OrderIsFixedForEver) {
  Permutation permutation(1234, 0, 1000);
  std::vector<uint64_t> first;
  for (uint64_t i = 0; i < 6; ++i) first.push_back(permutation(i));
  EXPECT_EQ(first, (std::vector<uint64_t>{832, 748, 529, 803, 478, 283}));
}

TEST(PermutationTest, SeedAndEpochChangeTheOrder) {
  Permutation a(1, 0, 10000), b(1, 1, 10000), c(2, 0, 10000);
  int same_epoch = 0, same_seed = 0;
  for (uint64_t i = 0; i < 10000; ++i) {
    same_epoch += a(i) == b(i);
    same_seed += a(i) == c(i);
  }
  // By chance, two permutations agree at about one index. 15 are far more than chance explains.
  EXPECT_LT(same_epoch, 15);
  EXPECT_LT(same_seed, 15);
}

// Over many keys each index goes to each place equally often: chi-square with n-1 degrees of freedom stays within six
// standard deviations of its mean.
TEST(PermutationTest, EveryPlaceIsEquallyLikely) {
  constexpr int kKeys = 20000;
  for (uint64_t size : {2u, 3u, 5u, 8u, 16u, 37u, 100u}) {
    std::vector<int> counts(size * size, 0);
    for (int key = 0; key < kKeys; ++key) {
      Permutation permutation(99, key, size);
      for (uint64_t i = 0; i < size; ++i) ++counts[i * size + permutation(i)];
    }
    double expected = static_cast<double>(kKeys) / size;
    for (uint64_t i = 0; i < size; ++i) {
      double chi = 0;
      for (uint64_t place = 0; place < size; ++place)
        chi += std::pow(counts[i * size + place] - expected, 2) / expected;
      double freedom = static_cast<double>(size) - 1;
      EXPECT_LT(chi, freedom + 6 * std::sqrt(2 * freedom)) << "size " << size << ", index " << i;
    }
  }
}

// Neighbouring samples do not stay neighbours in a permutation.
TEST(PermutationTest, NeighboursScatter) {
  constexpr uint64_t kSize = 20000;
  Permutation permutation(5, 0, kSize);
  double distance = 0;
  for (uint64_t i = 0; i + 1 < kSize; ++i) {
    distance += std::abs(static_cast<double>(permutation(i)) - static_cast<double>(permutation(i + 1)));
  }
  EXPECT_NEAR(distance / kSize, kSize / 3.0, kSize * 0.02);
}

}  // namespace
}  // namespace rekindle::data
