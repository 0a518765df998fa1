// One connection of the HTTP server: what cpp-httplib reads and writes through.
//
// A request has so many bytes and so much time, whatever comes in between: then reads fail. So has an answer.
#ifndef REKINDLE_COMMON_SERVE_PAGE_CONNECTION_H_
#define REKINDLE_COMMON_SERVE_PAGE_CONNECTION_H_

#include <httplib.h>
#include <openssl/ssl.h>
#include <poll.h>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "common/process.h"
#include "common/serve/request_head.h"

namespace rekindle::common {

struct RequestLimits {
  size_t bytes = 16 << 10;    // Request line and headers have at most so many.
  double read_seconds = 5;    // From when the server begins to read a request until its last byte.
  double write_seconds = 10;  // For the answer.
};

// Thread-compatible; the socket is non-blocking.
class PageConnection final : public httplib::Stream {
 public:
  // `tls` null: plain.
  PageConnection(UniqueFd socket, const std::shared_ptr<SSL_CTX>& tls);
  ~PageConnection() override;

  // The limits of the next request count from now.
  void Begin(const RequestLimits& limits);
  // Makes TLS's handshake, once; true where there is nothing to do. Begin first.
  bool Handshake();
  // Bytes have come that nobody has read, and that the socket does not know any more.
  bool HasBuffered() const;
  // Says that nothing more is sent, and waits a little for the client to have read it: a socket that is closed with
  // unread bytes throws away what the client was to get.
  void Finish();

  int fd() const { return socket_.get(); }

  bool is_readable() const override { return HasBuffered() || Await(POLLIN, 0); }
  bool is_writable() const override { return Await(POLLOUT, 0); }
  ssize_t read(char* to, size_t bytes) override;
  ssize_t write(const char* from, size_t bytes) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  // Only cpp-httplib's own loop needs it, which wants a small number.
  socket_t socket() const override { return INVALID_SOCKET; }

 private:
  // False: not before `until`, of the steady clock.
  bool Await(short events, double until) const;
  // From the socket, as read(2): 0 at the end, -1 for errors and when the time is over.
  ssize_t Receive(char* to, size_t bytes);

  struct FreeSsl {
    void operator()(SSL* ssl) const { SSL_free(ssl); }
  };
  UniqueFd socket_;
  std::unique_ptr<SSL, FreeSsl> ssl_;
  bool greeted_ = false;
  std::array<char, 4096> buffer_;
  size_t begin_ = 0;  // What of the buffer is unread.
  size_t end_ = 0;
  std::optional<RequestHead> head_;  // Of the request that Begin was called for.
  double read_until_ = 0;
  double write_seconds_ = 0;
  double write_until_ = 0;
};

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_SERVE_PAGE_CONNECTION_H_
