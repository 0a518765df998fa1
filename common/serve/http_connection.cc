#include "common/serve/http_connection.h"

#include <openssl/err.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cmath>

#include "common/time/clock.h"

namespace rekindle::common {

HttpConnection::HttpConnection(UniqueFd socket, int stop, double seconds, double head_seconds)
    : socket_(std::move(socket)),
      stop_(stop),
      end_at_(SteadySeconds() + seconds),
      until_(std::min(end_at_, SteadySeconds() + head_seconds)) {}

bool HttpConnection::Await(short events) const {
  pollfd waited[] = {{.fd = socket_.get(), .events = events}, {.fd = stop_, .events = POLLIN}};
  while (true) {
    const double left = until_ - SteadySeconds();
    if (left <= 0) return false;
    const int ready = poll(waited, 2, static_cast<int>(std::ceil(left * 1000)));
    if (ready < 0 && errno == EINTR) continue;
    return ready > 0 && waited[1].revents == 0;
  }
}

// Repeats an operation of OpenSSL until it succeeds. Returns 0 if the other side has ended the connection, and a
// negative number for an error.
template <typename Operation>
int HttpConnection::UntilDone(Operation operation) {
  while (true) {
    ERR_clear_error();
    const int done = operation();
    if (done > 0) return done;
    const int why = SSL_get_error(tls_.get(), done);
    if (why == SSL_ERROR_ZERO_RETURN) return 0;
    if (why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE) return -1;
    if (!Await(why == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT)) return -1;
  }
}

bool HttpConnection::Handshake(SSL_CTX* context) {
  tls_.reset(SSL_new(context));
  if (tls_ == nullptr || SSL_set_fd(tls_.get(), socket_.get()) != 1) return false;
  return UntilDone([this] { return SSL_accept(tls_.get()); }) == 1;
}

void HttpConnection::End() {
  if (tls_ != nullptr) (void)SSL_shutdown(tls_.get());
  (void)shutdown(socket_.get(), SHUT_WR);
  // Closing a socket with unread input would discard output that is still on its way, so the input is read to its end
  // first.
  char rest[1024];
  while (received_ < kMaxRequestBytes && Await(POLLIN)) {
    const ssize_t got = recv(socket_.get(), rest, sizeof rest, 0);
    if (got <= 0) return;
    received_ += static_cast<size_t>(got);
  }
}

ssize_t HttpConnection::Receive(char* to, size_t size) {
  if (tls_ != nullptr) return UntilDone([&] { return SSL_read(tls_.get(), to, static_cast<int>(size)); });
  while (true) {
    const ssize_t got = recv(socket_.get(), to, size, 0);
    if (got >= 0) return got;
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return -1;
    if (!Await(POLLIN)) return -1;
  }
}

ssize_t HttpConnection::read(char* to, size_t size) {
  while (!head_.is_whole()) {
    if (begin_ == end_) {
      const ssize_t got = Receive(buffer_.data(), buffer_.size());
      if (got <= 0) return got;
      received_ += static_cast<size_t>(got);
      begin_ = 0;
      end_ = static_cast<size_t>(got);
    }
    // The deadline also limits a client that sends a byte now and then, because there would always be another byte in
    // time.
    if (SteadySeconds() >= until_) return -1;
    begin_ += head_.Take({buffer_.data() + begin_, end_ - begin_});
    if (head_.is_too_long()) return -1;
  }
  until_ = end_at_;
  return static_cast<ssize_t>(head_.Read(to, size));
}

ssize_t HttpConnection::Send(const char* from, size_t size) {
  // At most `kMost` bytes are sent at once.
  constexpr size_t kMost = 64 << 10;
  const size_t bytes = std::min(size, kMost);
  if (tls_ != nullptr) {
    const int sent = UntilDone([&] { return SSL_write(tls_.get(), from, static_cast<int>(bytes)); });
    return sent > 0 ? sent : -1;
  }
  while (true) {
    const ssize_t sent = send(socket_.get(), from, bytes, MSG_NOSIGNAL);
    if (sent >= 0) return sent;
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return -1;
    if (!Await(POLLOUT)) return -1;
  }
}

// Writes all bytes, because the caller takes a short write for a success.
ssize_t HttpConnection::write(const char* from, size_t size) {
  for (size_t at = 0; at < size;) {
    const ssize_t sent = Send(from + at, size - at);
    if (sent < 0) return -1;
    at += static_cast<size_t>(sent);
  }
  return static_cast<ssize_t>(size);
}

}  // namespace rekindle::common
