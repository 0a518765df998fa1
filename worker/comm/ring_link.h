// A Link over two single-producer single-consumer byte rings in memory that both sides map: shared between processes,
// or plain memory between threads.
#ifndef REKINDLE_WORKER_COMM_RING_LINK_H_
#define REKINDLE_WORKER_COMM_RING_LINK_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "worker/comm/doorbell.h"
#include "worker/comm/link.h"

namespace rekindle::comm {

// Positions of one ring, counted in bytes since the start; zero bytes are a valid state. The writer owns `head`, the
// reader `tail`, each on a cache line of its own.
struct RingPositions {
  alignas(64) std::atomic<uint64_t> head;
  alignas(64) std::atomic<uint64_t> tail;
};

// One direction as one side sees it. `capacity` is a power of two; `data` is aligned to 64 bytes.
struct RingView {
  RingPositions* positions = nullptr;
  std::byte* data = nullptr;
  size_t capacity = 0;
};

// A peer that writes nonsense into its positions is treated as closed: no access ever leaves the ring.
class RingLink : public Link {
 public:
  // `peer_bell` is rung after every change; `wake_by_message` is called when the peer must be woken through a socket.
  // `memory` keeps the mapping alive.
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
  uint64_t head_ = 0;  // Own copies: what the peer writes into them does not matter.
  uint64_t tail_ = 0;
};

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_RING_LINK_H_
