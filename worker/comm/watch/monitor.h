// Watches the peers of a communicator from a thread of its own. A closed connection is noticed at once, even while the
// rank computes. A pending operation that stands still leads to pings and, at its deadline, to an accusation.
#ifndef REKINDLE_WORKER_COMM_WATCH_MONITOR_H_
#define REKINDLE_WORKER_COMM_WATCH_MONITOR_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "worker/comm/contract/communicator.h"
#include "worker/comm/contract/device_lane.h"
#include "worker/comm/rings/mesh.h"
#include "worker/comm/watch/control.h"
#include "worker/comm/watch/stall.h"

namespace rekindle::comm {

// Holds what the communicator's thread reports to the monitor about its operations.
struct OperationLedger {
  // `issued` counts the collectives that the caller has issued.
  std::atomic<uint64_t> issued = 0;
  // `completed` counts the collectives that are done.
  std::atomic<uint64_t> completed = 0;
  // `pending` is true while an operation runs.
  std::atomic<bool> pending = false;
  // `collective` is the sequence number of the running operation. It is 0 if that is point to point.
  std::atomic<uint64_t> collective = 0;
};

class Monitor {
 public:
  struct Options {
    // `controls` has the control channel to each peer, indexed by rank. This rank's own entry is empty.
    std::vector<std::shared_ptr<ControlChannel>> controls;
    Deadlines deadlines;
    // `fail` gets the first failure that the monitor sees. The monitor's thread calls it at most once, and then ends.
    std::function<void(Verdict)> fail;
    // `turn_hook` is set by tests. It is called at every turn of the monitor's loop, and may block so that the rank
    // seems dead.
    std::function<void()> turn_hook;
    // `held_up` says whether this rank's model is held up, which peers hear in the answers to their pings. If it is
    // null, the model never is.
    std::function<bool()> held_up;
  };

  // `mesh`, `ledger` and `device_lane` must outlive the monitor.
  Monitor(Options options, Mesh& mesh, const OperationLedger& ledger, const DeviceLane& device_lane);
  ~Monitor();
  Monitor(const Monitor&) = delete;

  void Start();
  // Stops the monitor and waits for its thread.
  void Join();

  // Stop() and the functions after it are thread-safe.
  void Stop();
  // Reports that the data link to a peer broke. The monitor waits for the peer's control channel to give the reason.
  void LinkClosed(int peer);
  void SetDeadlines(const Deadlines& deadlines);

 private:
  struct Peer {
    std::shared_ptr<ControlChannel> control;
    // `open` says that the peer's control channel is still read.
    bool open = false;
    // `left` says that the peer has left in good order.
    bool left = false;
    // `suspected` is when the peer's data link was found to be closed. 0 means that it is not closed.
    double suspected = 0;
    // `issued` counts the collectives that the peer had issued at its last answer, and `device_reached` those between
    // devices that its device had come to.
    uint64_t issued = 0;
    uint64_t device_reached = 0;
    // `present` says that the peer is connected and has not left.
    bool present = false;
    // `last_answer` is when the peer last answered a ping.
    double last_answer = 0;
    // `held_up_at` is when the peer last answered that its model is held up.
    double held_up_at = 0;
  };

  void Run();
  void WaitForEvents();
  void ReadFrames(int rank);
  void Handle(int rank, const ControlFrame& frame);
  void HandleAbort(int rank, const ControlFrame& frame);
  void CheckSuspects(double now);
  void CheckStalls(double now);
  StallView HostView() const;
  StallView DeviceView() const;
  void Ping();
  // Fails if somebody is to blame for the stall, or if nobody is excused.
  void Judge(StallDetector& detector, StallView view, double now, double deadline);
  void Fail(Verdict verdict);
  double SleepSeconds();

  const Options options_;
  Mesh& mesh_;
  const OperationLedger& ledger_;
  const DeviceLane& device_lane_;
  std::vector<Peer> peers_;
  StallDetector host_stall_;
  StallDetector device_stall_;
  WakeFd wake_;
  std::atomic<bool> stop_ = false;
  std::atomic<uint64_t> closed_links_ = 0;
  std::atomic<double> progress_seconds_;
  uint64_t ping_token_ = 0;
  std::thread thread_;
};

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_WATCH_MONITOR_H_
