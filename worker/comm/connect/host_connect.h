// Makes one attempt to connect the ranks of a generation, for ConnectHost().
//
// In each pair of ranks, the higher one connects to the lower one. A thread of its own sets each pair up, so that one
// unreachable peer delays nobody. A rank that is connected to all peers tells them so, and the attempt succeeds when
// every rank has said so.
//
//   control connection, after the handshake
//     acceptor  -> connector  Setup   the acceptor's shared memory, if both are on one host
//     connector -> acceptor   Setup   the connector's, and whether it could map the acceptor's
//     acceptor  -> connector  Setup   whether it could map the connector's
//   without shared memory: a data connection, after its handshake
//     acceptor  -> connector  Setup   (ready)
#ifndef REKINDLE_WORKER_COMM_CONNECT_HOST_CONNECT_H_
#define REKINDLE_WORKER_COMM_CONNECT_HOST_CONNECT_H_

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "common/sync/mutex.h"
#include "worker/comm/connect/host_options.h"
#include "worker/comm/connect/listener_impl.h"
#include "worker/comm/connect/ring_communicator.h"
#include "worker/comm/connect/shared_segment.h"
#include "worker/comm/watch/control.h"

namespace rekindle::comm {

// REQUIRES: each HostConnect is used once, by one thread.
class HostConnect {
 public:
  HostConnect(ListenerImpl& listener, HostOptions options, std::function<bool()> cancelled);
  ~HostConnect();

  absl::StatusOr<std::unique_ptr<RingCommunicator>> Run(std::vector<Accusation>* accused);

 private:
  // Holds the connections between this rank and one peer. Each such pair of ranks has a thread of its own, which makes
  // the connections.
  struct Pair {
    std::shared_ptr<ControlChannel> control;
    // Once the pair of ranks is connected, either `data` (a TCP connection) or `segment` (shared memory) is set.
    UniqueFd data;
    // `segment` is the peer's shared memory, which this rank writes to.
    std::shared_ptr<SharedSegment> segment;
    bool finished = false;
    // `status` says why the pair of ranks is not connected so far.
    absl::Status status;
    // `joined` says that the peer is connected to all its peers.
    bool joined = false;
  };

  void RunPair(int peer);
  absl::Status Connect(int peer, Pair& pair, double* pause);
  absl::Status Accept(int peer, Pair& pair);
  absl::StatusOr<UniqueFd> Dial(int peer, const Hello& hello);
  int world_size() const { return static_cast<int>(options_.peers.size()); }
  bool SameHost(int peer) const;
  WaitLimit Soon(double seconds) const;

  // Waits until the attempt to connect is over. The verdict is OK once all ranks have joined.
  Verdict AwaitAll();
  // Looks at all peers. Returns an OK verdict as long as none has failed. Sets `done` when the attempt to connect is
  // over.
  Verdict CheckPeers(bool* done);
  Verdict ReadControl(int peer, Pair& pair) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Verdict Unreachable() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void WaitForEvents();
  std::unique_ptr<RingCommunicator> Build() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  ListenerImpl& listener_;
  HostOptions options_;
  const std::function<bool()> cancelled_;
  const uint64_t membership_;
  const double deadline_;
  // `segment_` is this rank's shared memory. If it is null, no peer can use shared memory with this rank.
  std::shared_ptr<SharedSegment> segment_;
  int ranks_on_host_ = 0;
  WakeFd cancel_;
  WakeFd changed_;
  bool told_joined_ = false;

  common::Mutex mutex_;
  // `pairs_` has the connections to each peer, indexed by rank. This rank's own entry stays empty.
  std::vector<Pair> pairs_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_;
};

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_CONNECT_HOST_CONNECT_H_
