// Computes XXH3 hashes, also of streams. XXH3 finds accidents (torn, truncated or flipped data), but is no defence
// against an adversary.
#ifndef REKINDLE_COMMON_DIGEST_HASH_H_
#define REKINDLE_COMMON_DIGEST_HASH_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct XXH3_state_s;

namespace rekindle::common {

uint64_t Xxh3_64(const void* data, size_t bytes);
// Returns the XXH3-128 of `data` as 32 lower-case hex digits, most significant first, as `xxhsum -H128` prints them.
std::string Xxh3_128Hex(const void* data, size_t bytes);
inline std::string Xxh3_128Hex(std::string_view text) { return Xxh3_128Hex(text.data(), text.size()); }

// Computes the XXH3-128 of data that arrives in pieces. It is thread-compatible.
class Hasher {
 public:
  Hasher();
  void Update(const void* data, size_t bytes);
  // Returns the hash of everything since construction or Reset. More calls of Update may follow.
  std::string Hex() const;
  void Reset();

 private:
  struct Free {
    void operator()(XXH3_state_s* state) const;
  };
  std::unique_ptr<XXH3_state_s, Free> state_;
};

// Returns `bytes` as lower-case hex.
std::string HexEncode(std::span<const uint8_t> bytes);
// Decodes exactly `out.size()` bytes of lower-case hex. Returns false for any other text.
bool HexDecode(std::string_view hex, std::span<uint8_t> out);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_DIGEST_HASH_H_
