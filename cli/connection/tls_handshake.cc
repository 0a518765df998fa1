#include "cli/connection/tls_handshake.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <csignal>
#include <ctime>
#include <memory>

#include "common/process/process.h"
#include "common/time/clock.h"

namespace rekindle::cli {
namespace {

constexpr double kPatienceSeconds = 2;
constexpr int kMostNames = 8;
// `kHttp2` is ALPN's name of HTTP/2. A gRPC server hangs up on a client that offers no protocol.
constexpr unsigned char kHttp2[] = {2, 'h', '2'};

template <auto Free>
struct Freer {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};
using SslContext = std::unique_ptr<SSL_CTX, Freer<SSL_CTX_free>>;
using Ssl = std::unique_ptr<SSL, Freer<SSL_free>>;
using Certificate = std::unique_ptr<X509, Freer<X509_free>>;
using AltNames = std::unique_ptr<GENERAL_NAMES, Freer<GENERAL_NAMES_free>>;

// Ignores SIGPIPE as long as the object lives. A write to a server that has hung up must return an error and not kill
// the program.
class NoBrokenPipe {
 public:
  NoBrokenPipe() : before_(std::signal(SIGPIPE, SIG_IGN)) {}
  ~NoBrokenPipe() { std::signal(SIGPIPE, before_); }

 private:
  void (*before_)(int);
};

class Deadline {
 public:
  explicit Deadline(double seconds) : end_(common::SteadySeconds() + seconds) {}
  // Waits for `events` on `fd`. Returns false if the deadline has passed.
  bool Await(int fd, short events) const {
    const double left = end_ - common::SteadySeconds();
    pollfd wait = {.fd = fd, .events = events, .revents = 0};
    return left > 0 && poll(&wait, 1, static_cast<int>(left * 1000) + 1) > 0;
  }

 private:
  const double end_;
};

common::UniqueFd Dial(const common::HostPort& at, const Deadline& deadline) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(at.host.c_str(), std::to_string(at.port).c_str(), &hints, &found) != 0) return common::UniqueFd();
  const std::unique_ptr<addrinfo, Freer<freeaddrinfo>> owned(found);
  for (const addrinfo* a = found; a != nullptr; a = a->ai_next) {
    common::UniqueFd fd(socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, a->ai_protocol));
    if (!fd.valid()) continue;
    if (connect(fd.get(), a->ai_addr, a->ai_addrlen) == 0) return fd;
    int error = errno;
    socklen_t size = sizeof(error);
    if (error == EINPROGRESS && deadline.Await(fd.get(), POLLOUT) &&
        getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0) {
      return fd;
    }
  }
  return common::UniqueFd();
}

std::string Minute(const ASN1_TIME* time) {
  tm parts = {};
  char text[32] = "";
  if (ASN1_TIME_to_tm(time, &parts) == 1) std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M UTC", &parts);
  return text;
}

std::string NamesOf(const X509* certificate) {
  const AltNames names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  std::string out;
  for (int i = 0; names != nullptr && i < sk_GENERAL_NAME_num(names.get()) && i < kMostNames; ++i) {
    int type = 0;
    const auto* value =
        static_cast<const ASN1_STRING*>(GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(names.get(), i), &type));
    if (type != GEN_DNS && type != GEN_IPADD) continue;
    const unsigned char* data = ASN1_STRING_get0_data(value);
    const int length = ASN1_STRING_length(value);
    char address[INET6_ADDRSTRLEN] = "";
    std::string name(reinterpret_cast<const char*>(data), static_cast<size_t>(length));
    if (type == GEN_IPADD) {
      const bool fits = length == 4 || length == 16;
      name = fits && inet_ntop(length == 4 ? AF_INET : AF_INET6, data, address, sizeof(address)) ? address : "?";
    }
    out += (out.empty() ? "" : ", ") + name;
  }
  return out;
}

Ssl NewSession(SSL_CTX* context, const common::HostPort& at, const common::Security& security) {
  // TLS files that cannot be loaded cause no error here, because the command refuses them before it makes any call. If
  // the file of the certificate authority was not loaded, no server is trusted.
  if (security.HasTls()) {
    SSL_CTX_load_verify_locations(context, security.tls_ca.c_str(), nullptr);
    SSL_CTX_use_certificate_chain_file(context, security.tls_cert.c_str());
    SSL_CTX_use_PrivateKey_file(context, security.tls_key.c_str(), SSL_FILETYPE_PEM);
  }
  // The handshake continues with a bad certificate, so that the verdict on it can be read.
  SSL_CTX_set_verify(context, SSL_VERIFY_NONE, nullptr);
  Ssl ssl(SSL_new(context));
  if (ssl == nullptr) return ssl;
  SSL_set_alpn_protos(ssl.get(), kHttp2, sizeof(kHttp2));
  unsigned char address[sizeof(in6_addr)];
  const bool numeric =
      inet_pton(AF_INET, at.host.c_str(), address) == 1 || inet_pton(AF_INET6, at.host.c_str(), address) == 1;
  if (numeric) {
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl.get()), at.host.c_str());
  } else {
    SSL_set_tlsext_host_name(ssl.get(), at.host.c_str());
    SSL_set1_host(ssl.get(), at.host.c_str());
  }
  return ssl;
}

// Waits for the event that an unfinished call of OpenSSL needs. Returns false if that event will never come.
bool GoesOn(SSL* ssl, int result, const Deadline& deadline) {
  const int error = SSL_get_error(ssl, result);
  if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) return false;
  return deadline.Await(SSL_get_fd(ssl), error == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT);
}

// Returns the text of the server's TLS alert, which OpenSSL's newest error has.
std::string Alert() {
  const int reason = ERR_GET_REASON(ERR_peek_last_error());
  return reason > SSL_AD_REASON_OFFSET ? SSL_alert_desc_string_long(reason - SSL_AD_REASON_OFFSET) : "";
}

void JudgeCertificate(SSL* ssl, TlsHandshake* seen) {
  const Certificate certificate(SSL_get1_peer_certificate(ssl));
  seen->speaks_tls = certificate != nullptr;
  if (certificate == nullptr) return;
  seen->names = NamesOf(certificate.get());
  seen->until = Minute(X509_get0_notAfter(certificate.get()));
  const long verdict = SSL_get_verify_result(ssl);
  if (verdict == X509_V_OK) return;
  seen->trust = X509_verify_cert_error_string(verdict);
  seen->expired = verdict == X509_V_ERR_CERT_HAS_EXPIRED;
  seen->other_name = verdict == X509_V_ERR_HOSTNAME_MISMATCH || verdict == X509_V_ERR_IP_ADDRESS_MISMATCH;
  seen->unknown_authority = !seen->expired && !seen->other_name && verdict != X509_V_ERR_CERT_NOT_YET_VALID;
}

}  // namespace

TlsHandshake ShakeHands(const common::HostPort& at, const common::Security& security) {
  TlsHandshake seen;
  const NoBrokenPipe no_broken_pipe;
  const Deadline deadline(kPatienceSeconds);
  const common::UniqueFd fd = Dial(at, deadline);
  if (!fd.valid()) return seen;
  seen.connected = true;
  const SslContext context(SSL_CTX_new(TLS_client_method()));
  const Ssl ssl = context == nullptr ? nullptr : NewSession(context.get(), at, security);
  if (ssl == nullptr || SSL_set_fd(ssl.get(), fd.get()) != 1) return seen;
  ERR_clear_error();
  int result = 0;
  while ((result = SSL_connect(ssl.get())) != 1 && GoesOn(ssl.get(), result, deadline)) {
  }
  JudgeCertificate(ssl.get(), &seen);
  char byte = 0;
  // In TLS 1.3 the server judges the client's certificate after SSL_connect. Only SSL_read shows whether the server
  // accepts the certificate.
  if (result == 1) {
    while ((result = SSL_read(ssl.get(), &byte, 1)) <= 0 && GoesOn(ssl.get(), result, deadline)) {
    }
  }
  seen.talks = result == 1;
  if (result != 1) {
    const int error = SSL_get_error(ssl.get(), result);
    seen.hung_up = error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE;
    seen.silent = !seen.hung_up && BIO_number_read(SSL_get_rbio(ssl.get())) == 0;
    seen.alert = Alert();
  }
  ERR_clear_error();
  return seen;
}

std::string EndedAt(const std::string& certificate_file) {
  const std::unique_ptr<BIO, Freer<BIO_free>> file(BIO_new_file(certificate_file.c_str(), "r"));
  const Certificate certificate(file == nullptr ? nullptr : PEM_read_bio_X509(file.get(), nullptr, nullptr, nullptr));
  ERR_clear_error();
  if (certificate == nullptr || X509_cmp_current_time(X509_get0_notAfter(certificate.get())) > 0) return "";
  return Minute(X509_get0_notAfter(certificate.get()));
}

}  // namespace rekindle::cli
