// Manages the memory through which the ranks of one host send to one rank: that rank's doorbell and a ring for each
// peer.
//
// The owner makes a segment without a name (memfd) and offers it to a peer on their authenticated connection as
// (process, descriptor, token). So nothing is left behind, however either side dies. The peer opens the segment through
// /proc. Before it uses the memory, it checks the size, the seals (so that it can never shrink under a reader) and the
// token.
#ifndef REKINDLE_WORKER_COMM_CONNECT_SHARED_SEGMENT_H_
#define REKINDLE_WORKER_COMM_CONNECT_SHARED_SEGMENT_H_

#include <array>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "worker/comm/links/doorbell.h"
#include "worker/comm/links/ring_link.h"
#include "worker/comm/links/socket.h"

namespace rekindle::comm {

// The bytes of a SegmentOffer are sent to the peer just as they lie in memory.
struct SegmentOffer {
  int32_t process = 0;
  // `descriptor` is the segment's descriptor in the owner's process, or -1 if no memory is offered.
  int32_t descriptor = -1;
  uint64_t bytes = 0;
  std::array<uint8_t, 16> token = {};
};
static_assert(sizeof(SegmentOffer) == 32);

// The users of a segment hold it by shared_ptr. It is unmapped when the last of them lets go, and until then its rings
// and its bell are valid.
class SharedSegment {
 public:
  // Makes a segment whose memory is all backed already, so that it never causes a SIGBUS later. Returns
  // RESOURCE_EXHAUSTED if there is too little memory.
  static absl::StatusOr<std::shared_ptr<SharedSegment>> Create(int rank, int world_size, int ranks_on_host);
  // Opens the segment that rank `owner` offers.
  static absl::StatusOr<std::shared_ptr<SharedSegment>> Open(const SegmentOffer& offer, int owner, int world_size,
                                                             int ranks_on_host);
  ~SharedSegment();
  SharedSegment(const SharedSegment&) = delete;

  const SegmentOffer& offer() const { return offer_; }
  Doorbell* bell();
  // Returns the ring in which rank `from` writes and the owner reads.
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

#endif  // REKINDLE_WORKER_COMM_CONNECT_SHARED_SEGMENT_H_
