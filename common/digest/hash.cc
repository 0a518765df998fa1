#include "common/digest/hash.h"

#include <xxhash.h>
// xxh_x86dispatch.h replaces the functions of xxhash.h by versions that choose among SSE2, AVX2 and AVX-512 at run
// time. These are twice as fast and give the same hash.
#if defined(__x86_64__) && __has_include(<xxh_x86dispatch.h>)
#include <xxh_x86dispatch.h>
#endif

#include <algorithm>
#include <array>
#include <cstring>
#include <new>

namespace rekindle::common {
namespace {

std::string Hex128(XXH128_hash_t hash) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, hash);
  return HexEncode({canonical.digest, sizeof(canonical.digest)});
}

int Digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

uint64_t Xxh3_64(const void* data, size_t bytes) { return XXH3_64bits(data, bytes); }

std::string Xxh3_128Hex(const void* data, size_t bytes) { return Hex128(XXH3_128bits(data, bytes)); }

void Hasher::Free::operator()(XXH3_state_s* state) const { XXH3_freeState(state); }

Hasher::Hasher() : state_(XXH3_createState()) {
  if (!state_) throw std::bad_alloc();
  Reset();
}

void Hasher::Update(const void* data, size_t bytes) {
  if (bytes > 0) XXH3_128bits_update(state_.get(), data, bytes);
}

std::string Hasher::Hex() const { return Hex128(XXH3_128bits_digest(state_.get())); }

void Hasher::Reset() { XXH3_128bits_reset(state_.get()); }

std::string HexEncode(std::span<const uint8_t> bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  hex.reserve(2 * bytes.size());
  for (uint8_t byte : bytes) {
    hex.push_back(kDigits[byte >> 4]);
    hex.push_back(kDigits[byte & 15]);
  }
  return hex;
}

bool HexDecode(std::string_view hex, std::span<uint8_t> out) {
  if (hex.size() != 2 * out.size()) return false;
  for (size_t i = 0; i < out.size(); ++i) {
    const int high = Digit(hex[2 * i]);
    const int low = Digit(hex[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    out[i] = static_cast<uint8_t>(high << 4 | low);
  }
  return true;
}

}  // namespace rekindle::common
