#include "worker/comm/links/ring_link.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace rekindle::comm {
namespace {

constexpr uint64_t kAlignment = 64;

uint64_t RoundDown(uint64_t position) { return position & ~(kAlignment - 1); }
uint64_t RoundUp(uint64_t position) { return RoundDown(position + kAlignment - 1); }

}  // namespace

RingLink::RingLink(RingView send, RingView receive, Doorbell* peer_bell, std::function<void()> wake_by_message,
                   std::shared_ptr<void> memory)
    : send_(send),
      receive_(receive),
      peer_bell_(peer_bell),
      wake_by_message_(std::move(wake_by_message)),
      memory_(std::move(memory)) {}

void RingLink::Tell() {
  if (peer_bell_->Ring() && wake_by_message_) wake_by_message_();
}

// The reader's position counts in whole cache lines. So the free room of the ring is whole lines too, and no element is
// split.
uint64_t RingLink::Used() const { return head_ - RoundDown(send_.positions->tail.load(std::memory_order_seq_cst)); }

// Returns how many bytes of the ring can be read. The result is negative, by less than a cache line, between the
// reader's FinishRecv() and the start of the writer's next message, because messages start at whole lines.
int64_t RingLink::There() const {
  return static_cast<int64_t>(receive_.positions->head.load(std::memory_order_seq_cst) - tail_);
}

ssize_t RingLink::TrySend(const void* data, size_t bytes, bool /*more*/) {
  const uint64_t used = Used();
  if (used > send_.capacity) return kLinkClosed;
  const size_t n = std::min<size_t>(bytes, send_.capacity - used);
  if (n == 0) return 0;
  const size_t offset = head_ & (send_.capacity - 1);
  const size_t first = std::min(n, send_.capacity - offset);
  std::memcpy(send_.data + offset, data, first);
  std::memcpy(send_.data, static_cast<const std::byte*>(data) + first, n - first);
  head_ += n;
  send_.positions->head.store(head_, std::memory_order_seq_cst);
  Tell();
  return static_cast<ssize_t>(n);
}

std::span<const std::byte> RingLink::Peek(size_t limit, bool* closed) {
  const int64_t there = There();
  *closed = there > static_cast<int64_t>(receive_.capacity) || there <= -static_cast<int64_t>(kAlignment);
  if (*closed || there <= 0) return {};
  const size_t offset = tail_ & (receive_.capacity - 1);
  const size_t n = std::min<size_t>({limit, static_cast<size_t>(there), receive_.capacity - offset});
  return {receive_.data + offset, n};
}

void RingLink::Consume(size_t bytes) {
  tail_ += bytes;
  receive_.positions->tail.store(tail_, std::memory_order_seq_cst);
  Tell();
}

ssize_t RingLink::TryRecv(void* data, size_t bytes) {
  bool closed = false;
  const auto bytes_there = Peek(bytes, &closed);
  if (closed) return kLinkClosed;
  if (bytes_there.empty()) return 0;
  std::memcpy(data, bytes_there.data(), bytes_there.size());
  Consume(bytes_there.size());
  return static_cast<ssize_t>(bytes_there.size());
}

void RingLink::FinishSend() { head_ = RoundUp(head_); }

void RingLink::FinishRecv() { tail_ = RoundUp(tail_); }

bool RingLink::CanSend() const { return Used() != send_.capacity; }

bool RingLink::CanRecv() const {
  const int64_t there = There();
  // If the position that the peer wrote is invalid, CanRecv() returns true, so that the caller calls TryRecv(), which
  // reports the error.
  return there > 0 || there <= -static_cast<int64_t>(kAlignment);
}

}  // namespace rekindle::comm
