#include "worker/data/permutation.h"

#include <bit>

namespace rekindle::data {
namespace {

// The finaliser of splitmix64 (Steele, Lea and Flood, 2014).
uint64_t Mix(uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

}  // namespace

Permutation::Permutation(uint64_t seed, uint64_t epoch, uint64_t size) : size_(size) {
  int bits = std::bit_width(size - 1);
  half_bits_ = bits < 2 ? 1 : (bits + 1) / 2;
  half_mask_ = (uint64_t{1} << half_bits_) - 1;
  uint64_t key = Mix(Mix(seed) ^ epoch);
  for (uint64_t& k : keys_) k = key = Mix(key);
}

uint64_t Permutation::Encrypt(uint64_t value) const {
  uint64_t left = value >> half_bits_;
  uint64_t right = value & half_mask_;
  for (uint64_t key : keys_) {
    uint64_t next = left ^ (Mix(right ^ key) & half_mask_);
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

}  // namespace rekindle::data
