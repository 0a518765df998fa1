// Computes SHA-256, with which a secret can be named without revealing it, and content that nobody can forge.
#ifndef REKINDLE_COMMON_DIGEST_SHA256_H_
#define REKINDLE_COMMON_DIGEST_SHA256_H_

#include <memory>
#include <string>
#include <string_view>

struct evp_md_ctx_st;

namespace rekindle::common {

// Returns the SHA-256 of `bytes` as 64 lower-case hex digits.
std::string Sha256Hex(std::string_view bytes);

// Computes the SHA-256 of data that arrives in pieces. It is thread-compatible.
class Sha256Hasher {
 public:
  Sha256Hasher();
  void Update(std::string_view bytes);
  // Returns the SHA-256 of all pieces as 64 lower-case hex digits. Nothing may follow.
  std::string Hex();

 private:
  struct Free {
    void operator()(evp_md_ctx_st* state) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> state_;
};

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_DIGEST_SHA256_H_
