// Watches the peers of a communicator from a thread of its own: a closed connection is noticed at once, even while the
// rank computes; a pending operation that stands still leads to pings and, at its deadline, to an accusation.
#ifndef REKINDLE_WORKER_COMM_MONITOR_H_
#define REKINDLE_WORKER_COMM_MONITOR_H_

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "worker/comm/communicator.h"
#include "worker/comm/control.h"
#include "worker/comm/mesh.h"
#include "worker/comm/stall.h"

namespace rekindle::comm {

// What the communicator's thread tells the monitor.
struct OperationLedger {
  std::atomic<uint64_t> issued = 0;      // Collectives the caller has issued.
  std::atomic<uint64_t> completed = 0;   // Collectives done.
  std::atomic<bool> pending = false;     // An operation runs.
  std::atomic<uint64_t> collective = 0;  // Its sequence; 0: point to point.
};

class Monitor {
 public:
  struct Options {
    std::vector<std::shared_ptr<ControlChannel>> controls;  // By rank, the own one empty.
    Deadlines deadlines;
    // The first failure seen. Called from the monitor's thread, at most once, which then ends.
    std::function<void(Verdict)> fail;
    // Tests: called at every turn of the loop; blocks to play dead.
    std::function<void()> turn_hook;
  };

  // `mesh` and `ledger` outlive the monitor.
  Monitor(Options options, Mesh& mesh, const OperationLedger& ledger);
  ~Monitor();
  Monitor(const Monitor&) = delete;

  void Start();
  // Stops, and waits for the thread.
  void Join();

  // The rest is thread-safe.
  void Stop();
  // A data link broke; its peer is asked for the reason by way of the control channel.
  void LinkClosed(int peer);
  void SetDeadlines(const Deadlines& deadlines);

 private:
  struct Peer {
    std::shared_ptr<ControlChannel> control;
    bool open = false;     // Still watched.
    bool left = false;     // In good order.
    double suspected = 0;  // Since when its data link is known to be closed; 0: not.
    PeerView view;
  };

  void Run();
  void WaitForEvents();
  void ReadFrames(int rank);
  void Handle(int rank, const ControlFrame& frame);
  void HandleAbort(int rank, const ControlFrame& frame);
  void CheckSuspects(double now);
  void CheckStall(double now);
  void Judge(double now, double deadline);
  void Fail(Verdict verdict);
  double SleepSeconds();

  const Options options_;
  Mesh& mesh_;
  const OperationLedger& ledger_;
  std::vector<Peer> peers_;
  StallDetector stall_;
  WakeFd wake_;
  std::atomic<bool> stop_ = false;
  std::atomic<uint64_t> closed_links_ = 0;
  std::atomic<double> progress_seconds_;
  uint64_t ping_token_ = 0;
  std::thread thread_;
};

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_MONITOR_H_
