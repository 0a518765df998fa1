// The links of one rank to all others, waiting for several of them at once, and the marks that the monitor judges
// stalls by. Collectives are written against this.
//
// Thread safety: link(), Wait(), Closed() and Moved() belong to the communicator's thread; the rest may be called by
// any.
#ifndef REKINDLE_WORKER_COMM_MESH_H_
#define REKINDLE_WORKER_COMM_MESH_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "worker/comm/doorbell.h"
#include "worker/comm/link.h"
#include "worker/comm/socket.h"

namespace rekindle::comm {

class Mesh {
 public:
  struct Want {
    int peer = 0;
    bool send = false;  // Else receive.
  };
  struct Callbacks {
    std::function<void(int peer)> link_closed;          // A link broke: the monitor finds out why.
    std::function<void(const std::string& what)> fail;  // An operation cannot go on.
  };

  // `links` by rank, the own one empty. `bell` is what peers in shared memory ring.
  Mesh(int rank, std::vector<std::unique_ptr<Link>> links, std::shared_ptr<Doorbell> bell);
  void SetCallbacks(Callbacks callbacks) { callbacks_ = std::move(callbacks); }

  int rank() const { return rank_; }
  int world_size() const { return static_cast<int>(links_.size()); }
  Link& link(int peer) { return *links_[peer]; }

  // Returns true once one of `wants` may be tried again, false when the communicator has ended.
  bool Wait(std::span<const Want> wants);
  // The link to `peer` is closed: reports it, waits for the end that follows. Always false.
  bool Closed(int peer);
  // The operation cannot go on (ranks disagree, a device fails): ends the communicator. Always false.
  bool Fail(const std::string& what);
  // Bytes have moved.
  void Moved();
  // For an operation that a device carries out: lets at most `seconds` pass. False when the communicator has ended.
  bool Rest(double seconds);

  void End();
  bool ended() const { return ended_.load(std::memory_order_acquire); }
  // `peer` has left in good order: what it sent is there, nothing more comes.
  void PeerLeft(int peer);
  // Makes Wait() look again.
  void Wake();

  // In Wait(), with something to send among `wants`.
  double send_blocked_seconds() const { return send_blocked_.load(std::memory_order_relaxed); }
  double last_moved() const { return last_moved_.load(std::memory_order_relaxed); }
  // One bit a rank that Wait() waits for now or waited for last.
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

#endif  // REKINDLE_WORKER_COMM_MESH_H_
