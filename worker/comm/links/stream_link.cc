#include "worker/comm/links/stream_link.h"

#include <errno.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace rekindle::comm {
namespace {

constexpr size_t kBufferBytes = 512 << 10;

bool WouldBlock() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

StreamLink::StreamLink(UniqueFd fd)
    : fd_(std::move(fd)), buffer_(std::make_unique_for_overwrite<std::byte[]>(kBufferBytes)) {
  TuneStream(fd_.get());
}

ssize_t StreamLink::TrySend(const void* data, size_t bytes, bool more) {
  if (bytes == 0) return 0;
  const ssize_t n = send(fd_.get(), data, bytes, MSG_DONTWAIT | MSG_NOSIGNAL | (more ? MSG_MORE : 0));
  if (n >= 0) return n;
  return WouldBlock() ? 0 : kLinkClosed;
}

ssize_t StreamLink::Receive(void* data, size_t bytes) {
  const ssize_t n = recv(fd_.get(), data, bytes, MSG_DONTWAIT);
  if (n > 0) return n;
  return n < 0 && WouldBlock() ? 0 : kLinkClosed;
}

ssize_t StreamLink::TryRecv(void* data, size_t bytes) {
  if (bytes == 0) return 0;
  if (begin_ == end_) return Receive(data, bytes);
  const size_t n = std::min(bytes, end_ - begin_);
  std::memcpy(data, buffer_.get() + begin_, n);
  Consume(n);
  return static_cast<ssize_t>(n);
}

std::span<const std::byte> StreamLink::Peek(size_t limit, bool* closed) {
  *closed = false;
  limit = std::min(limit, kBufferBytes);
  if (begin_ + limit > kBufferBytes) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    end_ -= std::exchange(begin_, 0);
  }
  if (end_ < begin_ + limit) {
    const ssize_t n = Receive(buffer_.get() + end_, begin_ + limit - end_);
    if (n == kLinkClosed) {
      *closed = true;
    } else {
      end_ += n;
    }
  }
  return {buffer_.get() + begin_, std::min(end_ - begin_, limit)};
}

void StreamLink::Consume(size_t bytes) {
  begin_ += bytes;
  if (begin_ == end_) begin_ = end_ = 0;
}

}  // namespace rekindle::comm
