// Asks the node's checkpoint service each second who it is, so that the coordinator knows whether this node can stage
// checkpoints. Starting the service is not the agent's job.
#ifndef REKINDLE_WORKER_AGENT_CHECKPOINT_PROBE_H_
#define REKINDLE_WORKER_AGENT_CHECKPOINT_PROBE_H_

#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <memory>
#include <mutex>
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

 private:
  void Loop();
  std::string Ask();

  const std::unique_ptr<v1::Checkpoints::Stub> stub_;
  const Waker* const waker_;
  mutable std::mutex mutex_;
  std::condition_variable stop_;
  bool stopping_ = false;
  std::string incarnation_;
  std::thread thread_;
};

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_CHECKPOINT_PROBE_H_
