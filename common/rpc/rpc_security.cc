#include "common/rpc/rpc_security.h"

#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>
#include <netdb.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/files/users.h"
#include "common/log/log.h"
#include "common/net/address.h"
#include "common/net/socket_owner.h"
#include "common/rpc/local_token.h"

namespace rekindle::common {
namespace {

constexpr unsigned kCertificateRefreshSeconds = 10;
constexpr char kHeader[] = "authorization";
constexpr char kPrefix[] = "Bearer ";

struct Refusals {
  std::string missing = "no token: give --token-file or REKINDLE_TOKEN_FILE";
  std::string wrong = "wrong token: --token-file differs from the server's";
};

std::string BelongsTo(const std::string& what, uid_t user) {
  return absl::StrCat("this ", what, " belongs to user ", UserName(user),
                      "; ask for its token, and name the file that has it by REKINDLE_TOKEN_FILE or --token-file");
}

class TokenChecker final : public grpc::AuthMetadataProcessor {
 public:
  TokenChecker(const std::string& token, Refusals refusals)
      : expected_(kPrefix + token), refusals_(std::move(refusals)) {}

  bool IsBlocking() const override { return false; }

  grpc::Status Process(const InputMetadata& metadata, grpc::AuthContext*, OutputMetadata* consumed,
                       OutputMetadata*) override {
    const auto found = metadata.find(kHeader);
    if (found == metadata.end()) {
      return {grpc::StatusCode::UNAUTHENTICATED, refusals_.missing};
    }
    const grpc::string_ref given = found->second;
    if (!SameSecret({given.data(), given.size()}, expected_)) {
      return {grpc::StatusCode::UNAUTHENTICATED, refusals_.wrong};
    }
    consumed->emplace(kHeader, std::string(given.data(), given.size()));
    return grpc::Status::OK;
  }

 private:
  const std::string expected_;
  const Refusals refusals_;
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

// Sends a token to loopback, where a port may belong to any user. It looks at both the token and the server for each
// call, because either may have changed since the last call. When gRPC asks for the metadata of a call, the call
// already has its connection.
class LocalTokenSender final : public grpc::MetadataCredentialsPlugin {
 public:
  // `given` is the token from a file that the user named. If it is empty, the token published for the port is used.
  LocalTokenSender(int port, std::string given, std::string what)
      : port_(port), given_(std::move(given)), what_(std::move(what)) {
    is_made_.store(true, std::memory_order_release);
  }
  ~LocalTokenSender() override { FollowMaking(); }

  bool IsBlocking() const override { return false; }
  const char* GetType() const override { return "local-bearer"; }
  grpc::string DebugString() override { return "bearer token for loopback"; }

  grpc::Status GetMetadata(grpc::string_ref, grpc::string_ref, const grpc::AuthContext&,
                           std::multimap<grpc::string, grpc::string>* metadata) override {
    FollowMaking();
    const std::string token = given_.empty() ? FindToken(port_).value_or("") : given_;
    if (absl::Status may = MaySpeak(token); !may.ok()) {
      return {grpc::StatusCode::UNAUTHENTICATED, std::string(may.message())};
    }
    if (!token.empty()) metadata->emplace(kHeader, kPrefix + token);
    return grpc::Status::OK;
  }

 private:
  absl::Status MaySpeak(const std::string& token) const {
    const std::optional<uid_t> named = OwnerNamedBy(token);
    // A user who has made a token and named its file is responsible for the server to which the token is sent.
    if (!given_.empty() && !named) return absl::OkStatus();
    const absl::StatusOr<std::vector<uid_t>> owners = OwnersOfPort(port_);
    // If this kernel cannot tell who owns a socket, the token is sent without a check. No other user can cause that.
    if (absl::IsUnimplemented(owners.status())) {
      static std::once_flag once;
      std::call_once(once, [&] {
        log::Warning("a token is sent to whoever listens on the port",
                     {{"why", std::string(owners.status().message())}});
      });
      return absl::OkStatus();
    }
    if (!owners.ok()) return owners.status();
    for (const uid_t owner : *owners) {
      // The token may also be sent to a process of root, because root could read it anyway.
      if (owner == geteuid() || owner == 0 || owner == named) continue;
      return absl::UnauthenticatedError(absl::StrCat(kRefusedHere, BelongsTo(what_, owner)));
    }
    return absl::OkStatus();
  }

  // Shows the thread sanitizer that this object was made before the present thread uses it. gRPC hands the object from
  // thread to thread, ordered by its own reference counts, which the sanitizer does not see.
  void FollowMaking() const { (void)is_made_.load(std::memory_order_acquire); }

  const int port_;
  const std::string given_;
  const std::string what_;
  std::atomic<bool> is_made_ = false;
};

int PortOf(const std::string& address) {
  int port = 0;
  return absl::SimpleAtoi(address.substr(address.rfind(':') + 1), &port) ? port : 0;
}

Refusals RefusalsOf(const std::string& what) {
  const std::string whose = BelongsTo(what, geteuid());
  return {.missing = whose, .wrong = absl::StrCat("wrong token: ", whose)};
}

// Returns the numeric addresses that this machine finds for a host. The result is empty when the name cannot be
// resolved: whoever listens or connects then reports that.
std::vector<std::string> Numbers(const std::string& host) {
  addrinfo hints = {}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  if (getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0) return {};
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, &freeaddrinfo);
  std::vector<std::string> numbers;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    char text[NI_MAXHOST] = {};
    if (getnameinfo(one->ai_addr, one->ai_addrlen, text, sizeof text, nullptr, 0, NI_NUMERICHOST) == 0) {
      numbers.emplace_back(text);
    }
  }
  return numbers;
}

// Returns an error unless a token can be sent to or checked at `address` in clear text. That is done with gRPC's local
// credentials, which accept 127.0.0.1 and ::1 alone. To the kernel all of 127.0.0.0/8 is loopback, and the hosts file
// may lead `localhost` anywhere.
// REQUIRES: IsLocalAddress, and no Unix socket.
absl::Status CheckTakesToken(const std::string& address) {
  const absl::StatusOr<HostPort> split = SplitAddress(address);
  if (!split.ok()) return split.status();
  for (const std::string& number : Numbers(split->host)) {
    if (number == "127.0.0.1" || number == "::1") continue;
    const std::string leads = number == split->host ? "" : absl::StrCat(", which leads to ", number, " here,");
    const char* though = IsLoopback(absl::StrCat(number, ":0")) ? ", though it is loopback" : "";
    return absl::InvalidArgumentError(
        absl::StrCat(address, leads, " cannot be used without TLS", though,
                     ": take 127.0.0.1, [::1] or a localhost that leads to one of them, or give --tls-cert, --tls-key "
                     "and --tls-ca"));
  }
  return absl::OkStatus();
}

}  // namespace

std::shared_ptr<grpc::CallCredentials> SendToken(const std::string& token) {
  return grpc::experimental::MetadataCredentialsFromPlugin(std::make_unique<TokenSender>(token), GRPC_SECURITY_NONE);
}

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> MakeServerCredentials(const std::string& address,
                                                                               const Security& security,
                                                                               const std::string& what) {
  const bool local = IsLocalAddress(address);
  if (!local && (!security.HasTls() || security.token_file.empty())) {
    return absl::InvalidArgumentError(
        absl::StrCat("listening on ", address,
                     " would be open to others: give --tls-cert, --tls-key, --tls-ca and --token-file, "
                     "or listen on 127.0.0.1"));
  }
  if (!security.HasTls() && !IsUnixAddress(address)) {
    if (absl::Status takes = CheckTakesToken(address); !takes.ok()) return takes;
  }
  std::shared_ptr<grpc::ServerCredentials> credentials;
  if (security.HasTls() && !IsUnixAddress(address)) {
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
    // gRPC's local credentials add nothing on the wire, and unlike its insecure credentials they can check a token.
    credentials = grpc::experimental::LocalServerCredentials(IsUnixAddress(address) ? UDS : LOCAL_TCP);
  }
  if (!security.token_file.empty()) {
    absl::StatusOr<std::string> token = ReadToken(security.token_file);
    if (!token.ok()) return token.status();
    const bool others_can_call = !security.HasTls() && IsLoopback(address);
    credentials->SetAuthMetadataProcessor(
        std::make_shared<TokenChecker>(*token, others_can_call ? RefusalsOf(what) : Refusals()));
  }
  return credentials;
}

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> MakeChannelCredentials(const std::string& address,
                                                                                 const Security& security,
                                                                                 const std::string& what) {
  const bool local = IsLocalAddress(address);
  std::string token;
  if (!security.token_file.empty()) {
    absl::StatusOr<std::string> read = ReadToken(security.token_file);
    if (!read.ok()) return read.status();
    token = *std::move(read);
  }
  if (security.HasTls() && !IsUnixAddress(address)) {
    if (absl::Status fit = CheckTlsFiles(security); !fit.ok()) return fit;
    grpc::experimental::TlsChannelCredentialsOptions tls;
    tls.set_certificate_provider(std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(
        security.tls_key, security.tls_cert, security.tls_ca, kCertificateRefreshSeconds));
    tls.watch_root_certs();
    tls.watch_identity_key_cert_pairs();
    const std::shared_ptr<grpc::ChannelCredentials> credentials = grpc::experimental::TlsCredentials(tls);
    if (token.empty()) return credentials;
    return grpc::CompositeChannelCredentials(credentials, grpc::experimental::MetadataCredentialsFromPlugin(
                                                              std::make_unique<TokenSender>(token),
                                                              local ? GRPC_SECURITY_NONE : GRPC_PRIVACY_AND_INTEGRITY));
  }
  if (IsUnixAddress(address)) {
    if (token.empty()) return grpc::InsecureChannelCredentials();
    return grpc::CompositeChannelCredentials(grpc::experimental::LocalCredentials(UDS), SendToken(token));
  }
  if (local) {
    if (absl::Status takes = CheckTakesToken(address); !takes.ok()) return takes;
    return grpc::CompositeChannelCredentials(
        grpc::experimental::LocalCredentials(LOCAL_TCP),
        grpc::experimental::MetadataCredentialsFromPlugin(
            std::make_unique<LocalTokenSender>(PortOf(address), token, what), GRPC_SECURITY_NONE));
  }
  if (token.empty()) return grpc::InsecureChannelCredentials();
  return absl::InvalidArgumentError(
      absl::StrCat("the token would go to ", address,
                   " in clear text: give --tls-cert, --tls-key and --tls-ca (REKINDLE_TLS_CERT, REKINDLE_TLS_KEY, "
                   "REKINDLE_TLS_CA)"));
}

}  // namespace rekindle::common
