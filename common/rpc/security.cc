#include "common/rpc/security.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"

namespace rekindle::common {
namespace {

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

absl::Status Unfit(const char* flag, const std::string& path, const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat(flag, " ", path, ": ", why));
}

std::string OpenSslError() {
  char text[256] = "unknown error";
  if (const unsigned long code = ERR_peek_last_error()) ERR_error_string_n(code, text, sizeof text);
  ERR_clear_error();
  return text;
}

}  // namespace

Security Security::FromEnvironment() {
  return {Environment("REKINDLE_TLS_CERT"), Environment("REKINDLE_TLS_KEY"), Environment("REKINDLE_TLS_CA"),
          Environment("REKINDLE_TOKEN_FILE")};
}

// Checks the TLS files at the start, because gRPC would only log what is wrong with them, and only at the first
// handshake.
absl::Status CheckTlsFiles(const Security& security) {
  if (security.tls_cert.empty() || security.tls_key.empty() || security.tls_ca.empty()) {
    return absl::InvalidArgumentError(
        "TLS needs three files: give --tls-cert, --tls-key and --tls-ca together (REKINDLE_TLS_CERT, REKINDLE_TLS_KEY, "
        "REKINDLE_TLS_CA)");
  }
  const std::pair<const char*, const std::string*> files[] = {
      {"--tls-cert", &security.tls_cert}, {"--tls-key", &security.tls_key}, {"--tls-ca", &security.tls_ca}};
  for (const auto& [flag, path] : files) {
    if (!std::ifstream(*path)) return Unfit(flag, *path, absl::StrCat("cannot be read: ", std::strerror(errno)));
  }
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_method()), &SSL_CTX_free);
  if (!context) return absl::InternalError(absl::StrCat("OpenSSL: ", OpenSslError()));
  if (SSL_CTX_use_certificate_chain_file(context.get(), security.tls_cert.c_str()) != 1) {
    return Unfit("--tls-cert", security.tls_cert, absl::StrCat("is no PEM certificate: ", OpenSslError()));
  }
  if (SSL_CTX_use_PrivateKey_file(context.get(), security.tls_key.c_str(), SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_check_private_key(context.get()) != 1) {
    return Unfit("--tls-key", security.tls_key, absl::StrCat("is not the key of --tls-cert: ", OpenSslError()));
  }
  if (SSL_CTX_load_verify_locations(context.get(), security.tls_ca.c_str(), nullptr) != 1) {
    return Unfit("--tls-ca", security.tls_ca, absl::StrCat("is no PEM certificate: ", OpenSslError()));
  }
  return absl::OkStatus();
}

}  // namespace rekindle::common
