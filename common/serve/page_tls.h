// Holds the certificate of a server for browsers and scrapers. It uses TLS 1.2 or later, and clients show no
// certificate.
#ifndef REKINDLE_COMMON_SERVE_PAGE_TLS_H_
#define REKINDLE_COMMON_SERVE_PAGE_TLS_H_

#include <openssl/ssl.h>

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>

#include "absl/status/statusor.h"
#include "common/sync/mutex.h"

namespace rekindle::common {

// Reads and renews a certificate. It is thread-safe.
class PageTls {
 public:
  using Context = std::shared_ptr<SSL_CTX>;

  // Opens PEM files: a certificate with its chain to the authority, and its key. INVALID_ARGUMENT names the flag and
  // the file that is wrong.
  static absl::StatusOr<std::unique_ptr<PageTls>> Open(const std::string& cert_file, const std::string& key_file);
  PageTls(const PageTls&) = delete;

  // Returns the context for new connections. Changed files are read again, at most every ten seconds. If they cannot be
  // used, it logs that and keeps the earlier certificate.
  Context context();

  // Returns whether the certificate names `host`, which is a host name or an address without brackets.
  bool Names(const std::string& host);

 private:
  // A `Version` holds the inode of a file and its time of modification, in seconds and nanoseconds.
  using Version = std::tuple<int64_t, int64_t, uint64_t>;
  PageTls(std::string cert_file, std::string key_file)
      : cert_file_(std::move(cert_file)), key_file_(std::move(key_file)) {}
  std::pair<Version, Version> Written() const;

  const std::string cert_file_;
  const std::string key_file_;
  Mutex mutex_;
  Context context_ ABSL_GUARDED_BY(mutex_);
  std::pair<Version, Version> written_ ABSL_GUARDED_BY(mutex_);
  double looked_at_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_SERVE_PAGE_TLS_H_
