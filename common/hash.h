// XXH3, streaming: finds accidents (torn, truncated, flipped data), is no defence against an adversary.
#ifndef REKINDLE_COMMON_HASH_H_
#define REKINDLE_COMMON_HASH_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct XXH3_state_s;

namespace rekindle::common {

uint64_t Xxh3_64(const void* data, size_t bytes);
// 32 lower-case hex digits, most significant first (as `xxhsum -H128` prints).
std::string Xxh3_128Hex(const void* data, size_t bytes);
inline std::string Xxh3_128Hex(std::string_view text) { return Xxh3_128Hex(text.data(), text.size()); }

// XXH3-128 of data that arrives in pieces. Thread-compatible.
class Hasher {
 public:
  Hasher();
  void Update(const void* data, size_t bytes);
  // Of everything since construction or Reset; Update may follow.
  std::string Hex() const;
  void Reset();

 private:
  struct Free {
    void operator()(XXH3_state_s* state) const;
  };
  std::unique_ptr<XXH3_state_s, Free> state_;
};

// Lower-case hex.
std::string HexEncode(std::span<const uint8_t> bytes);
// Exactly `out.size()` bytes of lower-case hex; false otherwise.
bool HexDecode(std::string_view hex, std::span<uint8_t> out);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_HASH_H_
