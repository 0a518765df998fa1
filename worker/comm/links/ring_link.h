// Implements a Link over two single-producer single-consumer byte rings in memory that both sides map. The memory is
// shared between processes, or plain memory between threads.
#ifndef REKINDLE_WORKER_COMM_LINKS_RING_LINK_H_
#define REKINDLE_WORKER_COMM_LINKS_RING_LINK_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "worker/comm/links/doorbell.h"
#include "worker/comm/links/link.h"

namespace rekindle::comm {

// Holds the positions of one ring, in bytes since the ring was made. Zero bytes are a valid state. The writer owns
// `head` and the reader owns `tail`, each on a cache line of its own.
struct RingPositions {
  alignas(64) std::atomic<uint64_t> head;
  alignas(64) std::atomic<uint64_t> tail;
};

// Shows a ring as its writer or its reader sees it. `capacity` is a power of two, and `data` is aligned to 64 bytes.
struct RingView {
  RingPositions* positions = nullptr;
  std::byte* data = nullptr;
  size_t capacity = 0;
};

// Trusts no position that the peer writes: a peer that writes an invalid one is treated as closed, and no access ever
// leaves the ring.
class RingLink : public Link {
 public:
  // `peer_bell` is rung after every change of a ring. `wake_by_message` is called when the peer must be woken through a
  // socket. `memory` keeps the mapping alive.
  RingLink(RingView send, RingView receive, Doorbell* peer_bell, std::function<void()> wake_by_message,
           std::shared_ptr<void> memory);

  ssize_t TrySend(const void* data, size_t bytes, bool more) override;
  ssize_t TryRecv(void* data, size_t bytes) override;
  std::span<const std::byte> Peek(size_t limit, bool* closed) override;
  void Consume(size_t bytes) override;
  void FinishSend() override;
  void FinishRecv() override;
  bool CanSend() const override;
  bool CanRecv() const override;
  int descriptor() const override { return -1; }

 private:
  void Tell();
  uint64_t Used() const;
  int64_t There() const;

  RingView send_;
  RingView receive_;
  Doorbell* peer_bell_;
  std::function<void()> wake_by_message_;
  std::shared_ptr<void> memory_;
  // `head_` and `tail_` are this rank's own copies of the positions, so it does not matter what the peer writes into
  // the shared ones.
  uint64_t head_ = 0;
  uint64_t tail_ = 0;
};

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_LINKS_RING_LINK_H_
