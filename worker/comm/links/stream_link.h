// Implements a Link over a stream socket (TCP, or a Unix pair in tests).
#ifndef REKINDLE_WORKER_COMM_LINKS_STREAM_LINK_H_
#define REKINDLE_WORKER_COMM_LINKS_STREAM_LINK_H_

#include <memory>

#include "worker/comm/links/link.h"
#include "worker/comm/links/socket.h"

namespace rekindle::comm {

// The link owns its socket and makes it non-blocking. Peek() reads into a buffer that fits the second-level cache.
class StreamLink : public Link {
 public:
  explicit StreamLink(UniqueFd fd);

  ssize_t TrySend(const void* data, size_t bytes, bool more) override;
  ssize_t TryRecv(void* data, size_t bytes) override;
  std::span<const std::byte> Peek(size_t limit, bool* closed) override;
  void Consume(size_t bytes) override;
  void FinishSend() override {}
  void FinishRecv() override {}
  bool CanSend() const override { return false; }
  bool CanRecv() const override { return false; }
  int descriptor() const override { return fd_.get(); }

 private:
  ssize_t Receive(void* data, size_t bytes);

  UniqueFd fd_;
  std::unique_ptr<std::byte[]> buffer_;
  // The bytes [begin_, end_) of `buffer_` were received and are not consumed yet.
  size_t begin_ = 0;
  size_t end_ = 0;
};

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_LINKS_STREAM_LINK_H_
