// The certificate of a server that browsers and scrapers speak to: TLS 1.2 or later; clients show none.
#ifndef REKINDLE_COMMON_SERVE_PAGE_TLS_H_
#define REKINDLE_COMMON_SERVE_PAGE_TLS_H_

#include <openssl/ssl.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>

#include "absl/status/statusor.h"

namespace rekindle::common {

// Thread-safe.
class PageTls {
 public:
  using Context = std::shared_ptr<SSL_CTX>;

  // PEM files: a certificate with what leads to its authority, and its key. INVALID_ARGUMENT names the flag and the
  // file that is wrong.
  static absl::StatusOr<std::unique_ptr<PageTls>> Open(const std::string& cert_file, const std::string& key_file);
  PageTls(const PageTls&) = delete;

  // What new connections use. Files that have changed are read again, at most every ten seconds; where they cannot be
  // used, which is logged, the certificate stays as it was.
  Context context();

  // Does the certificate name that host, or that address? `host` is without brackets.
  bool Names(const std::string& host);

 private:
  using Version = std::tuple<int64_t, int64_t, uint64_t>;  // A file's seconds, nanoseconds and inode.
  PageTls(std::string cert_file, std::string key_file)
      : cert_file_(std::move(cert_file)), key_file_(std::move(key_file)) {}
  std::pair<Version, Version> Written() const;

  const std::string cert_file_;
  const std::string key_file_;
  std::mutex mutex_;
  Context context_;  // Under mutex_, as are the next two.
  std::pair<Version, Version> written_;
  double looked_at_ = 0;
};

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_SERVE_PAGE_TLS_H_
