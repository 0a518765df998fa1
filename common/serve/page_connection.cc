#include "common/serve/page_connection.h"

#include <openssl/err.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <utility>

#include "common/time/clock.h"

namespace rekindle::common {
namespace {

constexpr double kLastBytesSeconds = 0.5;
constexpr size_t kLastBytes = 64 << 10;

// Returns the event that OpenSSL waits for, or 0 if it does not wait.
short Wanted(SSL* ssl, int result) {
  switch (SSL_get_error(ssl, result)) {
    case SSL_ERROR_WANT_READ:
      return POLLIN;
    case SSL_ERROR_WANT_WRITE:
      return POLLOUT;
    default:
      return 0;
  }
}

}  // namespace

PageConnection::PageConnection(UniqueFd socket, const std::shared_ptr<SSL_CTX>& tls)
    : socket_(std::move(socket)), ssl_(tls ? SSL_new(tls.get()) : nullptr), greeted_(tls == nullptr) {
  if (ssl_) SSL_set_fd(ssl_.get(), socket_.get());
}

PageConnection::~PageConnection() {
  if (ssl_ && greeted_) SSL_shutdown(ssl_.get());
}

void PageConnection::Begin(const RequestLimits& limits) {
  head_.emplace(limits.bytes);
  read_until_ = SteadySeconds() + limits.read_seconds;
  write_seconds_ = limits.write_seconds;
  write_until_ = 0;
}

bool PageConnection::Handshake() {
  if (greeted_) return true;
  if (!ssl_) return false;
  for (;;) {
    ERR_clear_error();
    const int result = SSL_accept(ssl_.get());
    if (result == 1) return greeted_ = true;
    const short wanted = Wanted(ssl_.get(), result);
    if (wanted == 0 || !Await(wanted, read_until_)) return false;
  }
}

bool PageConnection::HasBuffered() const {
  return begin_ != end_ || (ssl_ && greeted_ && SSL_has_pending(ssl_.get()) == 1);
}

void PageConnection::Finish() {
  if (ssl_ && greeted_) SSL_shutdown(ssl_.get());
  shutdown(socket_.get(), SHUT_WR);
  const double until = SteadySeconds() + kLastBytesSeconds;
  for (size_t seen = 0; seen < kLastBytes && Await(POLLIN, until);) {
    const ssize_t got = recv(socket_.get(), buffer_.data(), buffer_.size(), 0);
    if (got <= 0) return;
    seen += static_cast<size_t>(got);
  }
}

bool PageConnection::Await(short events, double until) const {
  pollfd waits = {.fd = socket_.get(), .events = events, .revents = 0};
  for (;;) {
    const double seconds = std::max(0.0, until - SteadySeconds());
    const int ready = poll(&waits, 1, static_cast<int>(std::ceil(seconds * 1000)));
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

ssize_t PageConnection::Receive(char* to, size_t bytes) {
  for (;;) {
    short wanted = POLLIN;
    if (ssl_) {
      ERR_clear_error();
      const int got = SSL_read(ssl_.get(), to, static_cast<int>(bytes));
      if (got > 0) return got;
      wanted = Wanted(ssl_.get(), got);
      if (wanted == 0) return SSL_get_error(ssl_.get(), got) == SSL_ERROR_ZERO_RETURN ? 0 : -1;
    } else {
      const ssize_t got = recv(socket_.get(), to, bytes, 0);
      if (got >= 0) return got;
      if (errno == EINTR) continue;
      if (errno != EAGAIN && errno != EWOULDBLOCK) return -1;
    }
    if (SteadySeconds() >= read_until_ || !Await(wanted, read_until_)) return -1;
  }
}

ssize_t PageConnection::read(char* to, size_t bytes) {
  while (!head_->is_whole()) {
    if (begin_ == end_) {
      const ssize_t got = Receive(buffer_.data(), buffer_.size());
      if (got <= 0) return got;
      begin_ = 0;
      end_ = static_cast<size_t>(got);
    }
    // The deadline also limits a client that sends a byte now and then, because there would always be another byte in
    // time.
    if (SteadySeconds() >= read_until_) return -1;
    begin_ += head_->Take({buffer_.data() + begin_, end_ - begin_});
    if (head_->is_too_long()) return -1;
  }
  return static_cast<ssize_t>(head_->Read(to, bytes));
}

ssize_t PageConnection::write(const char* from, size_t bytes) {
  if (write_until_ == 0) write_until_ = SteadySeconds() + write_seconds_;
  for (;;) {
    short wanted = POLLOUT;
    if (ssl_) {
      ERR_clear_error();
      const int sent = SSL_write(ssl_.get(), from, static_cast<int>(std::min<size_t>(bytes, 1 << 20)));
      if (sent > 0) return sent;
      wanted = Wanted(ssl_.get(), sent);
      if (wanted == 0) return -1;
    } else {
      const ssize_t sent = send(socket_.get(), from, bytes, MSG_NOSIGNAL);
      if (sent >= 0) return sent;
      if (errno == EINTR) continue;
      if (errno != EAGAIN && errno != EWOULDBLOCK) return -1;
    }
    if (SteadySeconds() >= write_until_ || !Await(wanted, write_until_)) return -1;
  }
}

// Returns no addresses of the client and the server, because nothing needs them. What a request's headers say about
// addresses is never believed, and logs contain none.
void PageConnection::get_remote_ip_and_port(std::string& ip, int& port) const {
  ip.clear();
  port = 0;
}

void PageConnection::get_local_ip_and_port(std::string& ip, int& port) const {
  ip.clear();
  port = 0;
}

}  // namespace rekindle::common
