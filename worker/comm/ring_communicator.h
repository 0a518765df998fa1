// The host communicator: collectives over a full mesh of links, run by one thread in the order of issue, watched by
// a monitor.
#ifndef REKINDLE_WORKER_COMM_RING_COMMUNICATOR_H_
#define REKINDLE_WORKER_COMM_RING_COMMUNICATOR_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "worker/comm/collectives.h"
#include "worker/comm/communicator.h"
#include "worker/comm/control.h"
#include "worker/comm/mesh.h"
#include "worker/comm/monitor.h"

namespace rekindle::comm {

// How one rank is connected to one peer.
struct PeerConnection {
  std::unique_ptr<Link> link;
  std::shared_ptr<ControlChannel> control;
};

struct RingOptions {
  int generation = 0;
  int rank = 0;
  Deadlines deadlines;
  std::function<void(const absl::Status&, const std::vector<Accusation>&)> on_error;
  std::vector<PeerConnection> peers;   // By rank, the own one empty; at most common::kMaxWorldSize.
  std::shared_ptr<Doorbell> bell;      // What peers in shared memory ring.
  std::function<void()> monitor_hook;  // Tests: see Monitor::Options::turn_hook.
};

class RingCommunicator : public Communicator {
 public:
  explicit RingCommunicator(RingOptions options);
  ~RingCommunicator() override;

  int rank() const override { return options_.rank; }
  int world_size() const override { return static_cast<int>(options_.peers.size()); }
  int generation() const override { return options_.generation; }

  Work AllReduce(const void* in, void* out, size_t count, DataType type, ReduceOp op, Stream stream) override;
  Work Broadcast(void* buffer, size_t bytes, int root, Stream stream) override;
  Work AllGather(const void* in, void* out, size_t bytes, Stream stream) override;
  Work Send(const void* buffer, size_t bytes, int peer, Stream stream) override;
  Work Recv(void* buffer, size_t bytes, int peer, Stream stream) override;

  void Abort(absl::Status why) override;
  void Close() override;
  void SetDeadlines(const Deadlines& deadlines) override;
  double send_blocked_seconds() const override { return mesh_.send_blocked_seconds(); }
  absl::Status status() const override;
  std::vector<Accusation> accusations() const override;

  // An operation of another kind: `run` is called in its turn on the communicator's thread and returns true, or false
  // once the mesh has ended. While it runs, deadlines hold for it as for the others.
  Work Issue(OperationHeader header, std::function<bool(Mesh&, const OperationHeader&)> run);

 private:
  struct Operation {
    std::function<bool(Mesh&, const OperationHeader&)> run;
    OperationHeader header;
    std::shared_ptr<Work::State> state;
  };
  enum class Stage { kOpen, kClosed, kFailed };

  static Work Refused(const std::string& why);
  void RunOperations();
  void Execute(Operation& operation);
  // The first call wins: ends everything, tells the peers. `local`: the caller of Abort() knows already.
  void Fail(const Verdict& verdict, bool local);
  // The last thing they hear.
  void TellPeers(const ControlFrame& frame);
  // What an operation that was not completed ends with.
  absl::Status EndStatus() const;

  RingOptions options_;
  Mesh mesh_;
  OperationLedger ledger_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Operation> queue_;
  Stage stage_ = Stage::kOpen;
  bool stop_ = false;
  absl::Status status_;
  std::vector<Accusation> accusations_;

  std::unique_ptr<Monitor> monitor_;
  std::thread thread_;
};

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_RING_COMMUNICATOR_H_
