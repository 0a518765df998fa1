// Defines a Link, which is a full-duplex byte stream between this rank and one peer: shared memory, a socket, or memory
// of this process. All calls return at once. A Mesh (rings/mesh.h) waits for several links together.
//
// Peek() makes a reduction possible without a copy. It shows received bytes where they are, which is the ring itself
// for shared memory.
//
// After each operation both sides call FinishSend()/FinishRecv(), which let the stream start the next message on an
// aligned address. Within an operation that moves whole elements, Peek() never splits an element.
//
// Thread safety: one thread sends, receives and waits (the communicator's).
#ifndef REKINDLE_WORKER_COMM_LINKS_LINK_H_
#define REKINDLE_WORKER_COMM_LINKS_LINK_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace rekindle::comm {

inline constexpr ssize_t kLinkClosed = -1;

class Link {
 public:
  virtual ~Link() = default;

  // Sends as much as the link has room for. Returns the bytes taken, which are 0 if there is no room now, or
  // kLinkClosed. `more` says that more data follows at once, so that the kernel may wait for it to fill a packet.
  virtual ssize_t TrySend(const void* data, size_t bytes, bool more) = 0;
  // Stores at `data` at most `bytes` bytes that have arrived from the peer. Returns the number of bytes stored, which
  // is 0 if none have arrived, or kLinkClosed.
  virtual ssize_t TryRecv(void* data, size_t bytes) = 0;

  // Returns received bytes, at most `limit`, which stay valid until Consume(). The result is empty if none have
  // arrived. `closed` is set if no more bytes will ever come.
  virtual std::span<const std::byte> Peek(size_t limit, bool* closed) = 0;
  // Drops the first `bytes` bytes of the received ones that Peek() showed.
  virtual void Consume(size_t bytes) = 0;

  virtual void FinishSend() = 0;
  virtual void FinishRecv() = 0;

  // CanSend() and CanRecv() return whether the next TrySend() or TryRecv() would not return 0. Links with a descriptor
  // return false, and the caller has to use poll() instead.
  virtual bool CanSend() const = 0;
  virtual bool CanRecv() const = 0;
  // Returns the descriptor for poll(), or -1 for a link through memory, whose doorbell signals readiness.
  virtual int descriptor() const = 0;
};

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_LINKS_LINK_H_
