// TLS of a server that is not gRPC's, from files that may be replaced while it runs.
#ifndef REKINDLE_COMMON_SERVER_TLS_H_
#define REKINDLE_COMMON_SERVER_TLS_H_

#include <openssl/ssl.h>

#include <memory>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/rpc.h"

namespace rekindle::common {

// Thread-safe.
class ServerTls {
 public:
  // TLS 1.2 or later, with clients alone that have a certificate of `security.tls_ca`. INVALID_ARGUMENT: as of
  // CheckTlsFiles.
  static absl::StatusOr<std::unique_ptr<ServerTls>> Open(const Security& security);

  // Of the files as they are now. Where they do not fit each other, as while they are being replaced, of what they were
  // before.
  std::shared_ptr<SSL_CTX> Current();

 private:
  explicit ServerTls(Security security) : security_(std::move(security)) {}
  // Changes whenever one of the files does.
  std::string Stamp() const;
  absl::Status Load();  // REQUIRES: mutex_ is held.

  const Security security_;
  std::mutex mutex_;
  std::shared_ptr<SSL_CTX> context_;
  std::string stamp_;  // Tells the files that were looked at last from newer ones.
};

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_SERVER_TLS_H_
