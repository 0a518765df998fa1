// Holds the links of one rank to all others. It waits for several links at once, and keeps the times and counts by
// which the monitor judges stalls. Collectives are written against this class.
//
// Thread safety: link(), Wait(), Closed() and Moved() belong to the communicator's thread. Any thread may call the
// other functions.
#ifndef REKINDLE_WORKER_COMM_RINGS_MESH_H_
#define REKINDLE_WORKER_COMM_RINGS_MESH_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "worker/comm/links/doorbell.h"
#include "worker/comm/links/link.h"
#include "worker/comm/links/socket.h"

namespace rekindle::comm {

class Mesh {
 public:
  struct Want {
    int peer = 0;
    // `send` says that the caller wants to send to the peer. If it is false, the caller wants to receive from the peer.
    bool send = false;
  };
  struct Callbacks {
    // `link_closed` is called when the link to a peer broke. The monitor then finds out why.
    std::function<void(int peer)> link_closed;
    // `fail` is called when an operation cannot go on.
    std::function<void(const std::string& what)> fail;
  };

  // `links` has the link to each peer, indexed by rank. This rank's own entry is empty. Peers that share memory with
  // this rank ring `bell`.
  Mesh(int rank, std::vector<std::unique_ptr<Link>> links, std::shared_ptr<Doorbell> bell);
  void SetCallbacks(Callbacks callbacks) { callbacks_ = std::move(callbacks); }

  int rank() const { return rank_; }
  int world_size() const { return static_cast<int>(links_.size()); }
  Link& link(int peer) { return *links_[peer]; }

  // Waits until one of the transfers in `wants` may be able to go on, and returns true. Returns false when the
  // communicator has ended.
  bool Wait(std::span<const Want> wants);
  // Reports to the monitor that the link to `peer` is closed, and waits for the end of the communicator that follows.
  // Always returns false.
  bool Closed(int peer);
  // Ends the communicator because the operation cannot go on (ranks disagree, or a device fails). Always returns false.
  bool Fail(const std::string& what);
  // Notes that bytes have moved, so that the operation does not count as stalled.
  void Moved();

  void End();
  bool ended() const { return ended_.load(std::memory_order_acquire); }
  // Notes that `peer` has left in good order. All that it sent has arrived, and no more will come.
  void PeerLeft(int peer);
  // Makes Wait() check the links again.
  void Wake();

  // Returns the seconds that Wait() has waited so far while at least one of its `wants` was to send.
  double send_blocked_seconds() const { return send_blocked_.load(std::memory_order_relaxed); }
  double last_moved() const { return last_moved_.load(std::memory_order_relaxed); }
  // Returns a mask with one bit per rank that Wait() waits for now or waited for last.
  uint64_t waiting_for() const { return waiting_for_.load(std::memory_order_relaxed); }

 private:
  bool WaitFor(std::span<const Want> wants);
  bool AnyReady(std::span<const Want> wants) const;
  bool Spin(std::span<const Want> wants) const;
  void SleepOnBell(std::span<const Want> wants);
  void SleepOnPoll(std::span<const Want> wants, bool rings_too);

  const int rank_;
  std::vector<std::unique_ptr<Link>> links_;
  std::shared_ptr<Doorbell> bell_;
  WakeFd wake_;
  Callbacks callbacks_;
  int spins_;
  std::atomic<bool> ended_ = false;
  std::atomic<uint64_t> left_ = 0;
  std::atomic<double> last_moved_ = 0;
  std::atomic<double> send_blocked_ = 0;
  std::atomic<uint64_t> waiting_for_ = 0;
};

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_RINGS_MESH_H_
