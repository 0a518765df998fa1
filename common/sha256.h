// SHA-256: names a secret without telling it.
#ifndef REKINDLE_COMMON_SHA256_H_
#define REKINDLE_COMMON_SHA256_H_

#include <string>
#include <string_view>

namespace rekindle::common {

// 64 lower-case hex digits.
std::string Sha256Hex(std::string_view bytes);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_SHA256_H_
