#include "common/serve/page_tls.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/log/log.h"
#include "common/sync/mutex.h"
#include "common/time/clock.h"

namespace rekindle::common {
namespace {

constexpr double kLookAgainSeconds = 10;

std::string OpenSslError() {
  char text[256] = "unknown error";
  if (const unsigned long code = ERR_peek_last_error()) ERR_error_string_n(code, text, sizeof text);
  ERR_clear_error();
  return text;
}

absl::StatusOr<PageTls::Context> Load(const std::string& cert_file, const std::string& key_file) {
  PageTls::Context context(SSL_CTX_new(TLS_server_method()), &SSL_CTX_free);
  if (!context) return absl::InternalError(absl::StrCat("OpenSSL: ", OpenSslError()));
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  if (SSL_CTX_use_certificate_chain_file(context.get(), cert_file.c_str()) != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("--tls-cert ", cert_file, ": is no PEM certificate that can be read: ", OpenSslError()));
  }
  if (SSL_CTX_use_PrivateKey_file(context.get(), key_file.c_str(), SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_check_private_key(context.get()) != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("--tls-key ", key_file, ": is not the key of --tls-cert: ", OpenSslError()));
  }
  return context;
}

}  // namespace

absl::StatusOr<std::unique_ptr<PageTls>> PageTls::Open(const std::string& cert_file, const std::string& key_file) {
  std::unique_ptr<PageTls> self(new PageTls(cert_file, key_file));
  const MutexLock lock(self->mutex_);
  self->written_ = self->Written();
  absl::StatusOr<Context> context = Load(cert_file, key_file);
  if (!context.ok()) return context.status();
  self->context_ = *std::move(context);
  self->looked_at_ = SteadySeconds();
  return self;
}

std::pair<PageTls::Version, PageTls::Version> PageTls::Written() const {
  const auto version = [](const std::string& path) {
    struct stat facts = {};
    if (stat(path.c_str(), &facts) != 0) return Version();
    return Version(facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec, facts.st_ino);
  };
  return {version(cert_file_), version(key_file_)};
}

PageTls::Context PageTls::context() {
  const MutexLock lock(mutex_);
  const double now = SteadySeconds();
  if (now - looked_at_ < kLookAgainSeconds) return context_;
  looked_at_ = now;
  const std::pair<Version, Version> written = Written();
  if (written == written_) return context_;
  written_ = written;
  absl::StatusOr<Context> context = Load(cert_file_, key_file_);
  if (context.ok()) {
    context_ = *std::move(context);
    log::Info("the page's certificate was read again", {{"file", cert_file_}});
  } else {
    log::Warning("the page's certificate stays as it was", {{"error", std::string(context.status().message())}});
  }
  return context_;
}

bool PageTls::Names(const std::string& host) {
  const Context context = this->context();
  X509* certificate = SSL_CTX_get0_certificate(context.get());
  if (certificate == nullptr) return false;
  return X509_check_ip_asc(certificate, host.c_str(), 0) == 1 ||
         X509_check_host(certificate, host.data(), host.size(), 0, nullptr) == 1;
}

}  // namespace rekindle::common
