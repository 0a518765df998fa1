#include "coordinator/fleet/providers/gcp/gcp_token.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <memory>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/files/file.h"

namespace rekindle::fleet {
namespace {

constexpr size_t kMaxFile = 64 << 10;
constexpr double kLocalSeconds = 3;
constexpr char kGrant[] = "urn:ietf:params:oauth:grant-type:jwt-bearer";
constexpr char kMetadata[] = "169.254.169.254";
constexpr char kMetadataPath[] = "/computeMetadata/v1/instance/service-accounts/default/token";

template <auto Free>
struct Deleter {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};

absl::StatusOr<Token> FromMetadata(const std::string& host, double now) {
  auto http = common::OpenHttp("http://" + host, {.seconds = kLocalSeconds});
  if (!http.ok()) return http.status();
  return ParseToken("the machine's service account",
                    (*http)->Send({.path = kMetadataPath, .headers = {{"Metadata-Flavor", "Google"}}}), now);
}

absl::StatusOr<Token> FromServiceAccount(const std::string& file, const std::string& scope, double now) {
  const auto text = common::ReadFile(*common::PosixFileSystem(), file, kMaxFile);
  if (!text.ok()) return absl::UnauthenticatedError(std::string(text.status().message()));
  const absl::StatusOr<ServiceAccount> account = ParseServiceAccount(*text);
  if (!account.ok()) return account.status();
  const absl::StatusOr<std::string> claim = SignedClaim(*account, scope, now);
  if (!claim.ok()) return claim.status();
  const std::string& uri = account->token_uri;
  const size_t slash = uri.find('/', uri.find("://") + 3);
  auto http = common::OpenHttp(uri.substr(0, slash), {.seconds = kApiSeconds, .reach = common::Reach::kSecure});
  if (!http.ok()) return http.status();
  return ParseToken("Google's token service",
                    (*http)->Send({.method = "POST",
                                   .path = slash == std::string::npos ? "/" : uri.substr(slash),
                                   .headers = {{"Content-Type", "application/x-www-form-urlencoded"}},
                                   .body = absl::StrCat("grant_type=", Escaped(kGrant), "&assertion=", *claim)}),
                    now);
}

}  // namespace

FetchToken GcpToken(Variables variables, std::string scope) {
  return [variables = std::move(variables), scope = std::move(scope)](double now) {
    const std::string file = variables("GOOGLE_APPLICATION_CREDENTIALS");
    if (!file.empty()) return FromServiceAccount(file, scope, now);
    const std::string host = variables("GCE_METADATA_HOST");
    return FromMetadata(host.empty() ? kMetadata : host, now);
  };
}

absl::StatusOr<ServiceAccount> ParseServiceAccount(const std::string& text) {
  const auto document = common::ParseDocument(text);
  if (!document.ok() || common::StringOr(*document, "type") != "service_account") {
    return absl::UnauthenticatedError(
        "GOOGLE_APPLICATION_CREDENTIALS names a file that is no service account's key (\"type\": \"service_account\")");
  }
  ServiceAccount account{.email = common::StringOr(*document, "client_email"),
                         .key = common::StringOr(*document, "private_key"),
                         .token_uri = common::StringOr(*document, "token_uri")};
  if (account.token_uri.empty()) account.token_uri = "https://oauth2.googleapis.com/token";
  if (!account.email.empty() && !account.key.empty()) return account;
  return absl::UnauthenticatedError("the service account's file lacks client_email or private_key");
}

absl::StatusOr<std::string> SignedClaim(const ServiceAccount& account, const std::string& scope, double now) {
  const auto begun = static_cast<int64_t>(now);
  const nlohmann::json claim = {
      {"iss", account.email}, {"scope", scope}, {"aud", account.token_uri}, {"iat", begun}, {"exp", begun + 3600}};
  const std::string text = absl::StrCat(absl::WebSafeBase64Escape(R"({"alg":"RS256","typ":"JWT"})"), ".",
                                        absl::WebSafeBase64Escape(claim.dump()));
  const std::unique_ptr<BIO, Deleter<BIO_free_all>> pem(
      BIO_new_mem_buf(account.key.data(), static_cast<int>(account.key.size())));
  const std::unique_ptr<EVP_PKEY, Deleter<EVP_PKEY_free>> key(
      PEM_read_bio_PrivateKey(pem.get(), nullptr, nullptr, nullptr));
  const std::unique_ptr<EVP_MD_CTX, Deleter<EVP_MD_CTX_free>> context(EVP_MD_CTX_new());
  size_t bytes = 0;
  std::string signature;
  bool fine = key != nullptr && EVP_PKEY_base_id(key.get()) == EVP_PKEY_RSA &&
              EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key.get()) == 1 &&
              EVP_DigestSignUpdate(context.get(), text.data(), text.size()) == 1 &&
              EVP_DigestSignFinal(context.get(), nullptr, &bytes) == 1;
  signature.resize(bytes);
  fine = fine && EVP_DigestSignFinal(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &bytes) == 1;
  if (!fine) return absl::UnauthenticatedError("the service account's private_key cannot sign");
  signature.resize(bytes);
  return absl::StrCat(text, ".", absl::WebSafeBase64Escape(signature));
}

}  // namespace rekindle::fleet
