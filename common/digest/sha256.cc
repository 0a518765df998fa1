#include "common/digest/sha256.h"

#include <openssl/sha.h>

#include "common/digest/hash.h"

namespace rekindle::common {

std::string Sha256Hex(std::string_view bytes) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest);
  return HexEncode(digest);
}

}  // namespace rekindle::common
