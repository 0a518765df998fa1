// Implements the host communicator: collectives over a full mesh of links. One thread runs the collectives in the order
// of issue, and a monitor watches the peers.
#ifndef REKINDLE_WORKER_COMM_CONNECT_RING_COMMUNICATOR_H_
#define REKINDLE_WORKER_COMM_CONNECT_RING_COMMUNICATOR_H_

#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "common/sync/mutex.h"
#include "worker/comm/contract/communicator.h"
#include "worker/comm/contract/work.h"
#include "worker/comm/rings/mesh.h"
#include "worker/comm/rings/operation_header.h"
#include "worker/comm/watch/control.h"
#include "worker/comm/watch/monitor.h"

namespace rekindle::comm {

// Holds the connections of one rank to one peer.
struct PeerConnection {
  std::unique_ptr<Link> link;
  std::shared_ptr<ControlChannel> control;
};

struct RingOptions {
  int generation = 0;
  int rank = 0;
  Deadlines deadlines;
  std::function<void(const absl::Status&, const std::vector<Accusation>&)> on_error;
  // `peers` has the connections to each peer, indexed by rank. This rank's own entry is empty. There are at most
  // common::kMaxWorldSize ranks.
  std::vector<PeerConnection> peers;
  // `bell` is this rank's doorbell, which peers that share memory with this rank ring after each change.
  std::shared_ptr<Doorbell> bell;
  // `held_up` is HostOptions::held_up.
  std::function<bool()> held_up;
  // `monitor_hook` is set by tests (see Monitor::Options::turn_hook).
  std::function<void()> monitor_hook;
};

class RingCommunicator : public Communicator {
 public:
  explicit RingCommunicator(RingOptions options);
  ~RingCommunicator() override;

  int rank() const override { return options_.rank; }
  int world_size() const override { return static_cast<int>(options_.peers.size()); }
  int generation() const override { return options_.generation; }

  Work AllReduce(const void* in, void* out, size_t count, DataType type, ReduceOp op) override;
  Work Broadcast(void* buffer, size_t bytes, int root) override;
  Work AllGather(const void* in, void* out, size_t bytes) override;
  Work Send(const void* buffer, size_t bytes, int peer) override;
  Work Recv(void* buffer, size_t bytes, int peer) override;

  void Abort(absl::Status why) override;
  void Close() override;
  void SetDeadlines(const Deadlines& deadlines) override;
  DeviceLane& device_lane() override { return device_lane_; }
  double send_blocked_seconds() const override { return mesh_.send_blocked_seconds(); }
  absl::Status status() const override;
  std::vector<Accusation> accusations() const override;

 private:
  struct Operation {
    std::function<bool(Mesh&, const OperationHeader&)> run;
    OperationHeader header;
    std::shared_ptr<Work::State> state;
  };
  enum class Stage { kOpen, kClosed, kFailed };

  // Issues an operation, which `run` carries out on the communicator's thread. It returns false once the mesh has
  // ended.
  Work Issue(OperationHeader header, std::function<bool(Mesh&, const OperationHeader&)> run);
  static Work Refused(const std::string& why);
  void RunOperations();
  void Execute(Operation& operation);
  // Ends all operations and notifies the peers. Only the first call has an effect. `local` says that the failure comes
  // from this rank's own Abort(), so that on_error is not called.
  void Fail(const Verdict& verdict, bool local);
  // Sends the last frame that the peers receive on their control channels.
  void TellPeers(const ControlFrame& frame);
  // Returns the status of an operation that was not completed.
  absl::Status EndStatus() const;

  RingOptions options_;
  Mesh mesh_;
  OperationLedger ledger_;
  DeviceLane device_lane_;

  mutable common::Mutex mutex_;
  common::CondVar changed_;
  std::deque<Operation> queue_ ABSL_GUARDED_BY(mutex_);
  Stage stage_ ABSL_GUARDED_BY(mutex_) = Stage::kOpen;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  std::vector<Accusation> accusations_ ABSL_GUARDED_BY(mutex_);

  std::unique_ptr<Monitor> monitor_;
  std::thread thread_;
};

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_CONNECT_RING_COMMUNICATOR_H_
