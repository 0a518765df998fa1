// Names the files that protect servers and channels, which are those of mutual TLS and that of the token, and checks
// those of TLS.
#ifndef REKINDLE_COMMON_RPC_SECURITY_H_
#define REKINDLE_COMMON_RPC_SECURITY_H_

#include <string>

#include "absl/status/status.h"

namespace rekindle::common {

// Names PEM files and a file with one token (at least 16 characters, the space around it is cut). An empty path means
// none.
struct Security {
  std::string tls_cert;
  std::string tls_key;
  std::string tls_ca;
  std::string token_file;

  // Reads the paths from REKINDLE_TLS_CERT, REKINDLE_TLS_KEY, REKINDLE_TLS_CA and REKINDLE_TOKEN_FILE.
  static Security FromEnvironment();
  bool HasTls() const { return !tls_cert.empty() || !tls_key.empty() || !tls_ca.empty(); }
};

// Returns INVALID_ARGUMENT with the flag whose TLS file is missing, cannot be read or does not fit the other files.
absl::Status CheckTlsFiles(const Security& security);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_RPC_SECURITY_H_
