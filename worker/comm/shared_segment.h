// The memory through which the ranks of one host send to one rank: that rank's doorbell and a ring for each peer.
//
// Its owner makes it without a name (memfd) and offers it to a peer on their authenticated connection as (process,
// descriptor, token): nothing is left behind, however either dies. The peer opens it through /proc, and checks size,
// seals (it can never shrink under a reader) and token before it uses it.
#ifndef REKINDLE_WORKER_COMM_SHARED_SEGMENT_H_
#define REKINDLE_WORKER_COMM_SHARED_SEGMENT_H_

#include <array>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "worker/comm/doorbell.h"
#include "worker/comm/ring_link.h"
#include "worker/comm/socket.h"

namespace rekindle::comm {

// On the wire.
struct SegmentOffer {
  int32_t process = 0;
  int32_t descriptor = -1;  // -1: none.
  uint64_t bytes = 0;
  std::array<uint8_t, 16> token = {};
};
static_assert(sizeof(SegmentOffer) == 32);

// Movable through its shared_ptr; unmapped with the last one. Views stay valid as long.
class SharedSegment {
 public:
  // All of it is backed by memory now (RESOURCE_EXHAUSTED otherwise: never a SIGBUS later).
  static absl::StatusOr<std::shared_ptr<SharedSegment>> Create(int rank, int world_size, int ranks_on_host);
  // The segment that rank `owner` offers.
  static absl::StatusOr<std::shared_ptr<SharedSegment>> Open(const SegmentOffer& offer, int owner, int world_size,
                                                             int ranks_on_host);
  ~SharedSegment();
  SharedSegment(const SharedSegment&) = delete;

  const SegmentOffer& offer() const { return offer_; }
  Doorbell* bell();
  // The ring in which rank `from` writes and the owner reads.
  RingView Ring(int from);

 private:
  SharedSegment(int owner, int world_size, int ranks_on_host);
  absl::Status Map();
  size_t RingBytes(int from) const;
  size_t TotalBytes() const;

  const int owner_;
  const int world_size_;
  const int ranks_on_host_;
  SegmentOffer offer_;
  UniqueFd fd_;
  std::byte* base_ = nullptr;
};

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_SHARED_SEGMENT_H_
