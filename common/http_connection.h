// One connection of http_server.h as cpp-httplib reads and writes it, with an end in time and in bytes.
#ifndef REKINDLE_COMMON_HTTP_CONNECTION_H_
#define REKINDLE_COMMON_HTTP_CONNECTION_H_

#include <httplib.h>
#include <openssl/ssl.h>

#include <array>
#include <memory>
#include <string>

#include "common/process.h"
#include "common/serve/request_head.h"

namespace rekindle::common {

// Thread-compatible.
class HttpConnection final : public httplib::Stream {
 public:
  static constexpr size_t kMaxRequestBytes = 16 << 10;  // A request has at most so many, headers and all.

  // `socket` does not block. Everything fails once `seconds` have passed, or `stop` can be read; reading the request
  // fails after `head_seconds`.
  HttpConnection(UniqueFd socket, int stop, double seconds, double head_seconds);

  // Speaks TLS from now on. False: the other side has no certificate that is accepted, or no time is left.
  bool Handshake(SSL_CTX* context);
  // Tells the other side that all was said, where it still listens.
  void End();

  bool is_readable() const override { return true; }
  bool is_writable() const override { return true; }
  ssize_t read(char* to, size_t size) override;
  ssize_t write(const char* from, size_t size) override;
  using httplib::Stream::write;
  void get_remote_ip_and_port(std::string& ip, int& port) const override { NoAddress(ip, port); }
  void get_local_ip_and_port(std::string& ip, int& port) const override { NoAddress(ip, port); }
  // Descriptors may be above what select() can take, and nothing is to wait on this one but we.
  int socket() const override { return -1; }

 private:
  static void NoAddress(std::string& ip, int& port) {
    ip.clear();
    port = 0;
  }
  // Until the socket is ready for these events. False: no time is left, or it is over.
  bool Await(short events) const;
  ssize_t Receive(char* to, size_t size);
  ssize_t Send(const char* from, size_t size);
  template <typename Operation>
  int UntilDone(Operation operation);

  UniqueFd socket_;
  const int stop_;
  const double end_at_;
  double until_;  // No later than end_at_.
  RequestHead head_{kMaxRequestBytes};
  std::unique_ptr<SSL, decltype(&SSL_free)> tls_{nullptr, &SSL_free};
  std::array<char, 4096> buffer_;  // What was received and not yet read: [begin_, end_).
  size_t begin_ = 0;
  size_t end_ = 0;
  size_t received_ = 0;
};

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_HTTP_CONNECTION_H_
