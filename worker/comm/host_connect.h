// One attempt to connect the ranks of a generation: the inside of ConnectHost().
//
// Of two ranks the higher connects to the lower. Each pair is set up by a thread of its own, so that one unreachable
// peer delays nobody; whoever has all its pairs tells everyone, and the attempt succeeds when everyone has said so.
//
//   control connection, after the handshake
//     acceptor  -> connector  Setup   its shared memory, if both are on one host
//     connector -> acceptor   Setup   the same, and whether it could map the acceptor's
//     acceptor  -> connector  Setup   whether it could map the connector's
//   without shared memory: a data connection, after its handshake
//     acceptor  -> connector  Setup   (ready)
#ifndef REKINDLE_WORKER_COMM_HOST_CONNECT_H_
#define REKINDLE_WORKER_COMM_HOST_CONNECT_H_

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "worker/comm/control.h"
#include "worker/comm/host_communicator.h"
#include "worker/comm/listener.h"
#include "worker/comm/ring_communicator.h"
#include "worker/comm/shared_segment.h"

namespace rekindle::comm {

// OK, or what is wrong with rank, peers or generation.
absl::Status CheckHostOptions(const HostOptions& options);

// Used once, by one thread.
class HostConnect {
 public:
  HostConnect(ListenerImpl& listener, HostOptions options, std::function<bool()> cancelled);
  ~HostConnect();

  absl::StatusOr<std::unique_ptr<RingCommunicator>> Run(std::vector<Accusation>* accused);

 private:
  // What the thread of a pair makes.
  struct Pair {
    std::shared_ptr<ControlChannel> control;
    UniqueFd data;                           // Or:
    std::shared_ptr<SharedSegment> segment;  // The peer's.
    bool finished = false;
    absl::Status status;  // Why there is no connection, so far.
    bool joined = false;  // The peer is connected to all its peers.
  };

  void RunPair(int peer);
  absl::Status Connect(int peer, Pair& pair, double* pause);
  absl::Status Accept(int peer, Pair& pair);
  absl::StatusOr<UniqueFd> Dial(int peer, const Hello& hello);
  bool SameHost(int peer) const;
  WaitLimit Soon(double seconds) const;

  // Ends with the verdict: OK once all have joined.
  Verdict AwaitAll();
  // OK while there is nothing to say. Sets `done`.
  Verdict Look(bool* done);
  Verdict ReadControl(int peer, Pair& pair);
  Verdict Unreachable();
  void WaitForEvents();
  std::unique_ptr<RingCommunicator> Build();

  ListenerImpl& listener_;
  HostOptions options_;
  const std::function<bool()> cancelled_;
  const uint64_t membership_;
  const double deadline_;
  std::shared_ptr<SharedSegment> segment_;  // Null: no peer can use it.
  int ranks_on_host_ = 0;
  WakeFd cancel_;
  WakeFd changed_;
  bool told_joined_ = false;

  std::mutex mutex_;  // Guards pairs_ until the threads are joined.
  std::vector<Pair> pairs_;
  std::vector<std::thread> threads_;
};

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_HOST_CONNECT_H_
