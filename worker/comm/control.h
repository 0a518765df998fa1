// The control channel between two ranks: small fixed frames beside the data, on a socket that also tells at once when
// the peer's process has ended.
#ifndef REKINDLE_WORKER_COMM_CONTROL_H_
#define REKINDLE_WORKER_COMM_CONTROL_H_

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/limits.h"
#include "worker/comm/communicator.h"
#include "worker/comm/socket.h"

namespace rekindle::comm {

struct ControlFrame {
  enum Type : uint32_t {
    kJoined = 1,  // All pairs of the sender are connected.
    kPing = 2,    // Answer with kPong and the same token.
    kPong = 3,
    kDoorbell = 4,  // The receiver sleeps in poll(): shared memory has changed.
    kAbort = 5,     // The sender has ended the communicator; `accused` says whom it holds responsible, if anyone.
    kClose = 6,     // The sender leaves in good order.
  };
  uint32_t type = 0;
  uint32_t kind = 0;       // kAbort: Accusation::Kind of all accused.
  uint64_t accused = 0;    // kAbort: one bit a rank.
  uint64_t token = 0;      // kPing, kPong.
  uint64_t issued = 0;     // kPong: operations the sender's caller has issued so far.
  uint64_t completed = 0;  // kPong: operations the sender has completed.
  char detail[88] = {};    // kAbort: text, ended by zero.
};
static_assert(sizeof(ControlFrame) == 128);
static_assert(common::kMaxWorldSize <= 64);  // One bit a rank.

// Puts a printable, cut copy of `text` into the frame; and takes it out again, whatever a peer put there.
void SetDetail(ControlFrame& frame, const std::string& text);
std::string GetDetail(const ControlFrame& frame);

// Why a communicator ends.
struct Verdict {
  absl::Status status;
  std::vector<Accusation> accusations;  // Never of this rank itself.
  // What a peer has said, to be passed on as it is: with it, if need be, that this rank itself is accused.
  ControlFrame notice;
};
// The kAbort frame that tells others.
ControlFrame MakeAbort(const Verdict& verdict);
// What rank `self` makes of the kAbort frame that came from `from`.
Verdict ReadAbort(const ControlFrame& frame, int from, int self, int world_size);

// Owns the socket. Send() may be called by any thread, Receive() by one.
class ControlChannel {
 public:
  explicit ControlChannel(UniqueFd fd);

  // One attempt without waiting: a frame that does not fit is lost with the channel (false).
  bool Send(const ControlFrame& frame);
  enum class Received { kFrame, kNothing, kClosed };
  Received Receive(ControlFrame* frame);
  // Ends both directions; frames sent before still arrive.
  void Shutdown();
  int descriptor() const { return fd_.get(); }

 private:
  UniqueFd fd_;
  std::mutex send_mutex_;
  ControlFrame partial_;
  size_t have_ = 0;
};

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_CONTROL_H_
