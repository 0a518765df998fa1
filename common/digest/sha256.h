// Computes SHA-256, with which a secret can be named without revealing it.
#ifndef REKINDLE_COMMON_DIGEST_SHA256_H_
#define REKINDLE_COMMON_DIGEST_SHA256_H_

#include <string>
#include <string_view>

namespace rekindle::common {

// Returns the SHA-256 of `bytes` as 64 lower-case hex digits.
std::string Sha256Hex(std::string_view bytes);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_DIGEST_SHA256_H_
