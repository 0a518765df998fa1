#include "common/serve/server_tls.h"

#include <openssl/err.h>
#include <sys/stat.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/log/log.h"
#include "common/sync/mutex.h"

namespace rekindle::common {

absl::StatusOr<std::unique_ptr<ServerTls>> ServerTls::Open(const Security& security) {
  std::unique_ptr<ServerTls> tls(new ServerTls(security));
  const MutexLock lock(tls->mutex_);
  tls->stamp_ = tls->Stamp();
  if (absl::Status loaded = tls->Load(); !loaded.ok()) return loaded;
  return tls;
}

std::shared_ptr<SSL_CTX> ServerTls::Current() {
  const MutexLock lock(mutex_);
  std::string stamp = Stamp();
  if (stamp == stamp_) return context_;
  stamp_ = std::move(stamp);
  if (const absl::Status loaded = Load(); !loaded.ok()) {
    log::Warning("the certificates that were replaced do not fit: the ones of before are used",
                 {{"error", std::string(loaded.message())}});
  }
  return context_;
}

std::string ServerTls::Stamp() const {
  std::string stamp;
  for (const std::string* path : {&security_.tls_cert, &security_.tls_key, &security_.tls_ca}) {
    struct stat facts = {};
    (void)stat(path->c_str(), &facts);
    absl::StrAppend(&stamp, facts.st_ino, "/", facts.st_size, "/", facts.st_mtim.tv_sec, ".", facts.st_mtim.tv_nsec,
                    " ");
  }
  return stamp;
}

absl::Status ServerTls::Load() {
  if (absl::Status fit = CheckTlsFiles(security_); !fit.ok()) return fit;
  std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_server_method()), &SSL_CTX_free);
  STACK_OF(X509_NAME)* names = SSL_load_client_CA_file(security_.tls_ca.c_str());
  const bool loaded = context != nullptr && names != nullptr &&
                      SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION) == 1 &&
                      SSL_CTX_use_certificate_chain_file(context.get(), security_.tls_cert.c_str()) == 1 &&
                      SSL_CTX_use_PrivateKey_file(context.get(), security_.tls_key.c_str(), SSL_FILETYPE_PEM) == 1 &&
                      SSL_CTX_load_verify_locations(context.get(), security_.tls_ca.c_str(), nullptr) == 1;
  if (!loaded) {
    if (names != nullptr) sk_X509_NAME_pop_free(names, X509_NAME_free);
    ERR_clear_error();
    return absl::InvalidArgumentError(
        absl::StrCat("--tls-cert ", security_.tls_cert, ", --tls-key and --tls-ca do not fit each other"));
  }
  // The TLS context owns `names`, the names of the authorities of client certificates, from now on.
  SSL_CTX_set_client_CA_list(context.get(), names);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  // Sessions are not resumed. In a resumed session a client's certificate would still count that was checked against
  // authorities whose file has been replaced since.
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_TICKET);
  SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  context_ = std::move(context);
  return absl::OkStatus();
}

}  // namespace rekindle::common
