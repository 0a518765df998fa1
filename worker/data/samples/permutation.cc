#include "worker/data/samples/permutation.h"

#include <bit>

#include "kernels/vector/splitmix64.h"

namespace rekindle::data {

Permutation::Permutation(uint64_t seed, uint64_t epoch, uint64_t size) : size_(size) {
  int bits = std::bit_width(size - 1);
  half_bits_ = bits < 2 ? 1 : (bits + 1) / 2;
  half_mask_ = (uint64_t{1} << half_bits_) - 1;
  uint64_t key = kernels::SplitMix64(kernels::SplitMix64(seed) ^ epoch);
  for (uint64_t& k : keys_) k = key = kernels::SplitMix64(key);
}

uint64_t Permutation::Encrypt(uint64_t value) const {
  uint64_t left = value >> half_bits_;
  uint64_t right = value & half_mask_;
  for (uint64_t key : keys_) {
    uint64_t next = left ^ (kernels::SplitMix64(right ^ key) & half_mask_);
    left = right;
    right = next;
  }
  return left << half_bits_ | right;
}

uint64_t Permutation::operator()(uint64_t index) const {
  uint64_t value = Encrypt(index);
  while (value >= size_) value = Encrypt(value);
  return value;
}

Permutation ValidationOrder(uint64_t size) {
  constexpr uint64_t kSeed = 0x76616C6964617465;
  return {kSeed, 0, size};
}

}  // namespace rekindle::data
