// The agent's line to the coordinator: whole reports up, whole directives down, for ever.
//
// News goes out at once in a short call; between news one call waits at the coordinator for a new directive, and is
// cancelled when there is news again. So an exit is known there within milliseconds, and every report that carries news
// is known to have arrived. While the coordinator is away the newest report is tried again, at most 0.2 s apart.
#ifndef REKINDLE_WORKER_AGENT_COORDINATOR_LINK_H_
#define REKINDLE_WORKER_AGENT_COORDINATOR_LINK_H_

#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>

#include "common/cluster_identity.h"
#include "rekindle/v1/node.grpc.pb.h"
#include "worker/agent/waker.h"

namespace rekindle::agent {

// Thread-safe.
class CoordinatorLink {
 public:
  struct Delivery {
    std::optional<v1::NodeDirective> directive;  // None: the last one stands.
    // Of the newest answer: when it was asked for, in boot seconds, and what it says of the machine (Alone::Heard).
    double sent = 0;
    double alone_seconds = 0;
    std::optional<double> spend_seconds;
  };

  // `waker` is woken when Take() has something, and must outlive the link. `obeys`: what the node has heard of before;
  // `heard` is called, on the link's thread, when that changes, before anything is taken from the answer.
  using Heard = std::function<void(const common::ClusterIdentity&)>;
  CoordinatorLink(std::shared_ptr<grpc::Channel> channel, const Waker* waker, common::KnownCluster obeys, Heard heard);
  ~CoordinatorLink();  // Cancels the call.

  // Replaces the report to deliver. known_revision and wait_ms are set by the link.
  void Publish(v1::NodeReport report);
  // The newest answer since the last call.
  std::optional<Delivery> Take();
  // The last call was answered (or one waits at a coordinator that answered before).
  bool connected() const;
  // What the node has heard of.
  common::ClusterIdentity obeys() const;
  // The number of the connection to the coordinator that the node obeys: after each time that it was away another one.
  // 0: it is away.
  int64_t connection() const;
  // The last answer came from a coordinator that this node does not obey: for it, its own one is away.
  bool foreign() const;

 private:
  void Loop();
  // One call; false when it failed for another reason than our cancelling it.
  bool CallOnce();
  void NoteFailure(const std::string& why, double again_after);

  const std::unique_ptr<v1::Nodes::Stub> stub_;
  const Waker* const waker_;
  const Heard heard_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  v1::NodeReport report_;
  int64_t published_ = 0;
  int64_t answered_ = 0;
  bool must_ask_ = true;  // The coordinator may be another process: no waiting before it has answered once.
  bool connected_ = false;
  int64_t connections_ = 0;  // So far.
  bool foreign_ = false;
  std::optional<double> complained_at_;  // Since it was last heard of.
  bool complained_of_foreign_ = false;
  bool stopping_ = false;
  grpc::ClientContext* waiting_ = nullptr;  // The call to cancel when there is news.
  grpc::ClientContext* call_ = nullptr;
  int known_revision_ = 0;
  std::optional<Delivery> delivery_;
  common::KnownCluster obeys_;
  std::mt19937 random_{std::random_device{}()};  // Jitter only.
  std::thread thread_;
};

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_COORDINATOR_LINK_H_
