#include "common/rpc_security.h"

#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace rekindle::common {
namespace {

constexpr size_t kShortestToken = 16;
constexpr size_t kLongestToken = 4096;
constexpr unsigned kCertificateRefreshSeconds = 10;
constexpr char kHeader[] = "authorization";
constexpr char kPrefix[] = "Bearer ";

absl::Status Unfit(const char* flag, const std::string& path, const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat(flag, " ", path, ": ", why));
}

std::string OpenSslError() {
  char text[256] = "unknown error";
  if (const unsigned long code = ERR_peek_last_error()) ERR_error_string_n(code, text, sizeof text);
  ERR_clear_error();
  return text;
}

// gRPC would only log what is wrong with the files, at the first handshake.
absl::Status CheckTlsFiles(const Security& security) {
  if (security.tls_cert.empty() || security.tls_key.empty() || security.tls_ca.empty()) {
    return absl::InvalidArgumentError("TLS needs three files: give --tls-cert, --tls-key and --tls-ca together");
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

absl::StatusOr<std::string> ReadToken(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Unfit("--token-file", path, absl::StrCat("cannot be read: ", std::strerror(errno)));
  std::string token(kLongestToken + 1, '\0');
  file.read(token.data(), static_cast<std::streamsize>(token.size()));
  token.resize(static_cast<size_t>(file.gcount()));
  if (token.size() > kLongestToken) return Unfit("--token-file", path, "is over 4096 bytes");
  absl::StripAsciiWhitespace(&token);
  if (token.size() < kShortestToken) {
    return Unfit("--token-file", path,
                 "holds under 16 characters: write a random one, as `openssl rand -hex 32` gives");
  }
  for (const char c : token) {
    if (!absl::ascii_isgraph(static_cast<unsigned char>(c)))
      return Unfit("--token-file", path, "must be one line of ASCII");
  }
  return token;
}

class TokenChecker final : public grpc::AuthMetadataProcessor {
 public:
  explicit TokenChecker(const std::string& token) : expected_(kPrefix + token) {}

  bool IsBlocking() const override { return false; }

  grpc::Status Process(const InputMetadata& metadata, grpc::AuthContext*, OutputMetadata* consumed,
                       OutputMetadata*) override {
    const auto found = metadata.find(kHeader);
    if (found == metadata.end()) {
      return {grpc::StatusCode::UNAUTHENTICATED, "no token: give --token-file or REKINDLE_TOKEN_FILE"};
    }
    const grpc::string_ref given = found->second;
    // Constant time in what the token holds; its length is no secret.
    if (given.size() != expected_.size() || CRYPTO_memcmp(given.data(), expected_.data(), expected_.size()) != 0) {
      return {grpc::StatusCode::UNAUTHENTICATED, "wrong token: --token-file differs from the server's"};
    }
    consumed->emplace(kHeader, std::string(given.data(), given.size()));
    return grpc::Status::OK;
  }

 private:
  const std::string expected_;
};

class TokenSender final : public grpc::MetadataCredentialsPlugin {
 public:
  explicit TokenSender(const std::string& token) : value_(kPrefix + token) {}

  bool IsBlocking() const override { return false; }
  const char* GetType() const override { return "bearer"; }
  grpc::string DebugString() override { return "bearer token"; }

  grpc::Status GetMetadata(grpc::string_ref, grpc::string_ref, const grpc::AuthContext&,
                           std::multimap<grpc::string, grpc::string>* metadata) override {
    metadata->emplace(kHeader, value_);
    return grpc::Status::OK;
  }

 private:
  const std::string value_;
};

bool IsUnix(const std::string& address) { return address.rfind("unix:", 0) == 0; }

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> MakeServerCredentials(const std::string& address,
                                                                               const Security& security) {
  const bool local = IsLocalAddress(address);
  if (!local && (!security.HasTls() || security.token_file.empty())) {
    return absl::InvalidArgumentError(
        absl::StrCat("listening on ", address,
                     " would be open to others: give --tls-cert, --tls-key, --tls-ca and --token-file, "
                     "or listen on 127.0.0.1"));
  }
  std::shared_ptr<grpc::ServerCredentials> credentials;
  if (security.HasTls() && !IsUnix(address)) {
    if (absl::Status fit = CheckTlsFiles(security); !fit.ok()) return fit;
    grpc::experimental::TlsServerCredentialsOptions tls(
        std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(
            security.tls_key, security.tls_cert, security.tls_ca, kCertificateRefreshSeconds));
    tls.watch_root_certs();
    tls.watch_identity_key_cert_pairs();
    tls.set_cert_request_type(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
    credentials = grpc::experimental::TlsServerCredentials(tls);
  } else if (security.token_file.empty()) {
    return grpc::InsecureServerCredentials();
  } else {
    // Local credentials send nothing on the wire; plain ones cannot check a token.
    credentials = grpc::experimental::LocalServerCredentials(IsUnix(address) ? UDS : LOCAL_TCP);
  }
  if (!security.token_file.empty()) {
    absl::StatusOr<std::string> token = ReadToken(security.token_file);
    if (!token.ok()) return token.status();
    credentials->SetAuthMetadataProcessor(std::make_shared<TokenChecker>(*token));
  }
  return credentials;
}

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> MakeChannelCredentials(const std::string& address,
                                                                                 const Security& security) {
  const bool local = IsLocalAddress(address);
  std::optional<std::string> token;
  if (!security.token_file.empty()) {
    absl::StatusOr<std::string> read = ReadToken(security.token_file);
    if (!read.ok()) return read.status();
    token = *std::move(read);
  }
  std::shared_ptr<grpc::ChannelCredentials> credentials;
  if (security.HasTls() && !IsUnix(address)) {
    if (absl::Status fit = CheckTlsFiles(security); !fit.ok()) return fit;
    grpc::experimental::TlsChannelCredentialsOptions tls;
    tls.set_certificate_provider(std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(
        security.tls_key, security.tls_cert, security.tls_ca, kCertificateRefreshSeconds));
    tls.watch_root_certs();
    tls.watch_identity_key_cert_pairs();
    credentials = grpc::experimental::TlsCredentials(tls);
  } else if (!token) {
    return grpc::InsecureChannelCredentials();
  } else if (local) {
    credentials = grpc::experimental::LocalCredentials(IsUnix(address) ? UDS : LOCAL_TCP);
  } else {
    return absl::InvalidArgumentError(
        absl::StrCat("the token would go to ", address,
                     " in clear text: give --tls-cert, --tls-key and --tls-ca (REKINDLE_TLS_CERT, REKINDLE_TLS_KEY, "
                     "REKINDLE_TLS_CA)"));
  }
  if (!token) return credentials;
  return grpc::CompositeChannelCredentials(
      credentials, grpc::experimental::MetadataCredentialsFromPlugin(
                       std::make_unique<TokenSender>(*token), local ? GRPC_SECURITY_NONE : GRPC_PRIVACY_AND_INTEGRITY));
}

}  // namespace rekindle::common
