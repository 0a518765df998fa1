// A Link is a full-duplex byte stream between this rank and one peer: shared memory, a socket, or memory of this
// process. All calls return at once; waiting for several links together is the Waiter's business.
//
// Zero-copy: Peek() shows received bytes where they lie (in shared memory: the ring itself), so that a reduction
// needs no copy.
//
// Messages: after each operation both sides call FinishSend()/FinishRecv(), which let the stream start the next one on
// an aligned address. Within an operation that moves whole elements, no element is ever split by Peek().
//
// Thread safety: one thread sends, receives and waits (the communicator's).
#ifndef REKINDLE_WORKER_COMM_LINK_H_
#define REKINDLE_WORKER_COMM_LINK_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace rekindle::comm {

inline constexpr ssize_t kLinkClosed = -1;

class Link {
 public:
  virtual ~Link() = default;

  // Bytes taken (0: no room now), or kLinkClosed. `more`: something follows at once, so a packet may wait for it.
  virtual ssize_t TrySend(const void* data, size_t bytes, bool more) = 0;
  // Bytes stored (0: nothing there now), or kLinkClosed.
  virtual ssize_t TryRecv(void* data, size_t bytes) = 0;

  // Received bytes, at most `limit`, valid until Consume(); empty when nothing is there now. `closed` is set when
  // nothing ever comes again.
  virtual std::span<const std::byte> Peek(size_t limit, bool* closed) = 0;
  // Drops the first `bytes` of what Peek() showed.
  virtual void Consume(size_t bytes) = 0;

  virtual void FinishSend() = 0;
  virtual void FinishRecv() = 0;

  // True when the next TrySend (TryRecv) would not return 0. Links with a descriptor are asked by poll() instead
  // and return false.
  virtual bool CanSend() const = 0;
  virtual bool CanRecv() const = 0;
  // For poll(); -1: readiness is told through the doorbell.
  virtual int descriptor() const = 0;
};

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_LINK_H_
