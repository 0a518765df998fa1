// Provides TLS to servers that do not use gRPC, from files that may be replaced while the server runs.
#ifndef REKINDLE_COMMON_SERVE_SERVER_TLS_H_
#define REKINDLE_COMMON_SERVE_SERVER_TLS_H_

#include <openssl/ssl.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/rpc/security.h"
#include "common/sync/mutex.h"

namespace rekindle::common {

// Reads the TLS files of a server and renews its TLS context. It is thread-safe.
class ServerTls {
 public:
  // Uses TLS 1.2 or later, and accepts only clients that have a certificate of `security.tls_ca`. Returns the
  // INVALID_ARGUMENT of CheckTlsFiles.
  static absl::StatusOr<std::unique_ptr<ServerTls>> Open(const Security& security);

  // Returns the context of the current files. If they do not fit each other, as while they are being replaced, it
  // returns the earlier context.
  std::shared_ptr<SSL_CTX> Current();

 private:
  explicit ServerTls(Security security) : security_(std::move(security)) {}
  // Returns a text that changes whenever one of the files does.
  std::string Stamp() const;
  absl::Status Load() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Security security_;
  Mutex mutex_;
  std::shared_ptr<SSL_CTX> context_ ABSL_GUARDED_BY(mutex_);
  // `stamp_` is the result of Stamp for the files that were read last.
  std::string stamp_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_SERVE_SERVER_TLS_H_
