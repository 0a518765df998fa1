// Tells the node's checkpoint service each second who its peers are, and hears who it is, so that the coordinator knows
// whether this node can stage checkpoints. Starting the service is not the agent's job.
#ifndef REKINDLE_WORKER_AGENT_CHECKPOINT_PROBE_H_
#define REKINDLE_WORKER_AGENT_CHECKPOINT_PROBE_H_

#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "rekindle/v1/checkpoint.grpc.pb.h"
#include "worker/agent/waker.h"

namespace rekindle::agent {

// Thread-safe.
class CheckpointProbe {
 public:
  // `waker` is woken when incarnation() has changed, and must outlive the probe.
  CheckpointProbe(std::shared_ptr<grpc::Channel> channel, const Waker* waker);
  ~CheckpointProbe();
  // Of the service; empty when it did not answer.
  std::string incarnation() const;
  // host:port at which it serves its peers; empty: it does not.
  std::string address() const;
  // What it is told from now on. Before the first call it is only asked.
  void SetPeers(v1::SetPeersRequest peers);

 private:
  void Loop();
  bool Ask(v1::GetInfoReply* reply);

  const std::unique_ptr<v1::Checkpoints::Stub> stub_;
  const Waker* const waker_;
  mutable std::mutex mutex_;
  std::condition_variable stop_;
  bool stopping_ = false;
  std::string incarnation_;
  std::string address_;
  std::optional<v1::SetPeersRequest> peers_;
  bool peers_changed_ = false;
  std::thread thread_;
};

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_CHECKPOINT_PROBE_H_
