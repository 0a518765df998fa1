// Holds one connection of http_server.h. cpp-httplib reads and writes through it, with limits in time and in bytes.
#ifndef REKINDLE_COMMON_SERVE_HTTP_CONNECTION_H_
#define REKINDLE_COMMON_SERVE_HTTP_CONNECTION_H_

#include <httplib.h>
#include <openssl/ssl.h>

#include <array>
#include <memory>
#include <string>

#include "common/net/request_head.h"
#include "common/process/process.h"

namespace rekindle::common {

// Reads one request and writes its answer. It is thread-compatible.
class HttpConnection final : public httplib::Stream {
 public:
  // A request has at most `kMaxRequestBytes` bytes, including its headers.
  static constexpr size_t kMaxRequestBytes = 16 << 10;

  // `socket` must be non-blocking. Every call fails once `seconds` have passed or the descriptor `stop` is readable.
  // Reading the request fails after `head_seconds`.
  HttpConnection(UniqueFd socket, int stop, double seconds, double head_seconds);

  // Starts TLS on the connection. Returns false if the other side has no certificate that is accepted, or if no time is
  // left.
  bool Handshake(SSL_CTX* context);
  // Tells the other side that everything was sent, if it still listens.
  void End();

  bool is_readable() const override { return true; }
  bool is_writable() const override { return true; }
  ssize_t read(char* to, size_t size) override;
  ssize_t write(const char* from, size_t size) override;
  using httplib::Stream::write;
  void get_remote_ip_and_port(std::string& ip, int& port) const override { NoAddress(ip, port); }
  void get_local_ip_and_port(std::string& ip, int& port) const override { NoAddress(ip, port); }
  // Returns no descriptor, because the descriptor may be too high for select(), and only this class may wait on it.
  int socket() const override { return -1; }

 private:
  static void NoAddress(std::string& ip, int& port) {
    ip.clear();
    port = 0;
  }
  // Waits until the socket is ready for `events` of poll(2). Returns false if no time is left or the server stops.
  bool Await(short events) const;
  ssize_t Receive(char* to, size_t size);
  ssize_t Send(const char* from, size_t size);
  template <typename Operation>
  int UntilDone(Operation operation);

  UniqueFd socket_;
  const int stop_;
  const double end_at_;
  // `until_` is the time until which reads and writes may last: at first the deadline for reading the request, and once
  // the request is read, `end_at_`.
  double until_;
  RequestHead head_{kMaxRequestBytes};
  std::unique_ptr<SSL, decltype(&SSL_free)> tls_{nullptr, &SSL_free};
  // The unread bytes of `buffer_` are [begin_, end_).
  std::array<char, 4096> buffer_;
  size_t begin_ = 0;
  size_t end_ = 0;
  size_t received_ = 0;
};

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_SERVE_HTTP_CONNECTION_H_
