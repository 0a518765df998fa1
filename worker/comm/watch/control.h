// Implements the control channel between two ranks. Small frames of fixed size go beside the data, on a socket that
// also shows at once when the peer's process has ended.
#ifndef REKINDLE_WORKER_COMM_WATCH_CONTROL_H_
#define REKINDLE_WORKER_COMM_WATCH_CONTROL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/agreed/agreed_limits.h"
#include "common/sync/mutex.h"
#include "worker/comm/contract/communicator.h"
#include "worker/comm/links/socket.h"

namespace rekindle::comm {

struct ControlFrame {
  enum Type : uint32_t {
    // `kJoined` says that the sender is connected to all its peers.
    kJoined = 1,
    // The receiver of a `kPing` answers with `kPong` and the same token.
    kPing = 2,
    kPong = 3,
    // `kDoorbell` wakes a receiver that sleeps in poll(), because its shared memory has changed.
    kDoorbell = 4,
    // `kAbort` says that the sender has ended the communicator. `accused` says whom it holds responsible, if anyone.
    kAbort = 5,
    // `kClose` says that the sender leaves in good order.
    kClose = 6,
  };
  uint32_t type = 0;
  // For kAbort, `kind` is the Accusation::Kind of all accused.
  uint32_t kind = 0;
  // For kAbort, `accused` has one bit per rank.
  uint64_t accused = 0;
  // `token` is set for kPing and kPong.
  uint64_t token = 0;
  // For kPong, `issued` counts the operations that the sender's caller has issued so far.
  uint64_t issued = 0;
  // For kPong, `completed` counts the operations that the sender has completed.
  uint64_t completed = 0;
  // For kPong, `device_reached` counts the collectives between devices that the sender's device has come to.
  uint64_t device_reached = 0;
  // For kPong, `held_up` is 1 if the sender's model is held up (Model::IsHeldUp), and otherwise 0.
  uint64_t held_up = 0;
  // For kAbort, `detail` is text that ends with a zero byte.
  char detail[72] = {};
};
static_assert(sizeof(ControlFrame) == 128);
// The field `accused` of a ControlFrame has 64 bits, one for each rank.
static_assert(common::kMaxWorldSize <= 64);

// SetDetail puts a truncated copy of `text` into the frame. GetDetail returns the text in printable form, whatever a
// peer put there.
void SetDetail(ControlFrame& frame, const std::string& text);
std::string GetDetail(const ControlFrame& frame);

// Says why a communicator ends, and which ranks are to blame.
struct Verdict {
  absl::Status status;
  // `accusations` never has this rank itself.
  std::vector<Accusation> accusations;
  // `notice` is a frame that a peer has sent, to be passed on as it is. It may accuse this rank itself.
  ControlFrame notice;
};
// Returns the kAbort frame that notifies the other ranks.
ControlFrame MakeAbort(const Verdict& verdict);
// Returns the verdict of rank `self` after a kAbort frame that came from `from`.
Verdict ReadAbort(const ControlFrame& frame, int from, int self, int world_size);

// A ControlChannel owns its socket. Any thread may call Send(), and one thread may call Receive().
class ControlChannel {
 public:
  explicit ControlChannel(UniqueFd fd);

  // Tries once to send a frame, without waiting. Returns false if the socket does not take the whole frame, and then
  // the frame is lost. If the socket took a part of the frame, the channel is shut down.
  bool Send(const ControlFrame& frame);
  enum class Received { kFrame, kNothing, kClosed };
  Received Receive(ControlFrame* frame);
  // Ends both directions of the channel. Frames that were sent before still arrive.
  void Shutdown();
  int descriptor() const { return fd_.get(); }

 private:
  UniqueFd fd_;
  // `send_mutex_` is held while a frame is sent. It guards no field.
  common::Mutex send_mutex_;
  // Only the thread that calls Receive() uses `partial_` and `have_`.
  ControlFrame partial_;
  size_t have_ = 0;
};

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_WATCH_CONTROL_H_
