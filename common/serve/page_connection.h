// Holds one connection of the HTTP server, through which cpp-httplib reads and writes.
//
// A request has a limit of bytes and a limit of time, however it arrives. Beyond them reads fail. An answer has a limit
// of time, too.
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

#include "common/net/request_head.h"
#include "common/process/process.h"

namespace rekindle::common {

struct RequestLimits {
  // Request line and headers have at most `bytes` bytes together.
  size_t bytes = 16 << 10;
  // `read_seconds` runs from when the server begins to read a request until its last byte.
  double read_seconds = 5;
  // `write_seconds` limits the answer.
  double write_seconds = 10;
};

// Reads requests and writes answers on a non-blocking socket. It is thread-compatible.
class PageConnection final : public httplib::Stream {
 public:
  // If `tls` is null, the connection is plain.
  PageConnection(UniqueFd socket, const std::shared_ptr<SSL_CTX>& tls);
  ~PageConnection() override;

  // Begins the next request: `limits` hold for its bytes and for its time from now on.
  void Begin(const RequestLimits& limits);
  // Makes the TLS handshake once. Returns true also if the connection is plain or the handshake is already made. The
  // caller must call Begin first.
  bool Handshake();
  // Returns whether bytes that nobody has read yet have already been taken from the socket.
  bool HasBuffered() const;
  // Tells the client that nothing more is sent, and waits a little until the client has read everything. A socket that
  // is closed with unread bytes would discard what the client should get.
  void Finish();

  int fd() const { return socket_.get(); }

  bool is_readable() const override { return HasBuffered() || Await(POLLIN, 0); }
  bool is_writable() const override { return Await(POLLOUT, 0); }
  ssize_t read(char* to, size_t bytes) override;
  ssize_t write(const char* from, size_t bytes) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  // Returns no descriptor, because only cpp-httplib's own loop needs it, and that loop cannot use large descriptors.
  socket_t socket() const override { return INVALID_SOCKET; }

 private:
  // Waits for `events` of poll(2). Returns false if they did not come before `until`, a time of the steady clock.
  bool Await(short events, double until) const;
  // Reads from the socket like read(2): it returns 0 at the end of the input, and -1 for errors and when the time is
  // over.
  ssize_t Receive(char* to, size_t bytes);

  struct FreeSsl {
    void operator()(SSL* ssl) const { SSL_free(ssl); }
  };
  UniqueFd socket_;
  std::unique_ptr<SSL, FreeSsl> ssl_;
  bool greeted_ = false;
  std::array<char, 4096> buffer_;
  // The unread bytes of `buffer_` are [begin_, end_).
  size_t begin_ = 0;
  size_t end_ = 0;
  // `head_` collects the head of the request for which Begin was called last.
  std::optional<RequestHead> head_;
  double read_until_ = 0;
  double write_seconds_ = 0;
  double write_until_ = 0;
};

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_SERVE_PAGE_CONNECTION_H_
