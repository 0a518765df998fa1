// Tells the node's checkpoint service each second who its peers are, and learns the service's incarnation and address.
// From these the coordinator knows whether this node can stage checkpoints. The agent does not start the service.
#ifndef REKINDLE_WORKER_AGENT_LINES_CHECKPOINT_LINK_H_
#define REKINDLE_WORKER_AGENT_LINES_CHECKPOINT_LINK_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "common/process/waker.h"
#include "common/sync/mutex.h"
#include "rekindle/v1/checkpoint.grpc.pb.h"

namespace rekindle::agent {

// A CheckpointLink is thread-safe.
class CheckpointLink {
 public:
  // `waker` is woken when the checkpoint service's incarnation or address has changed, and it must outlive the link.
  CheckpointLink(std::shared_ptr<grpc::Channel> channel, const common::Waker* waker);
  ~CheckpointLink();
  // Returns the incarnation of the node's checkpoint service. It is empty if the service did not answer.
  std::string incarnation() const;
  // Returns the host:port at which the checkpoint service serves its peers. It is empty if the service does not serve
  // them.
  std::string address() const;
  // Sets the peers that the checkpoint service is told of from now on. Before the first call, the service is only asked
  // for its state.
  void SetPeers(v1::SetPeersRequest peers);

 private:
  void Loop();
  bool Ask(v1::GetInfoReply* reply);

  const std::unique_ptr<v1::Checkpoints::Stub> stub_;
  const common::Waker* const waker_;
  mutable common::Mutex mutex_;
  common::CondVar stop_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::string incarnation_ ABSL_GUARDED_BY(mutex_);
  std::string address_ ABSL_GUARDED_BY(mutex_);
  std::optional<v1::SetPeersRequest> peers_ ABSL_GUARDED_BY(mutex_);
  bool peers_changed_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_LINES_CHECKPOINT_LINK_H_
