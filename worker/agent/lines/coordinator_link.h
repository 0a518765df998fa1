// Sends the node's whole report to the coordinator, and gets whole directives from it, for as long as the agent lives.
//
// News goes out at once in a short call. Between news, one call waits at the coordinator for a new directive, and it is
// cancelled when there is news again. So the coordinator knows of a trainer's exit within milliseconds, and the agent
// knows that every report with news has arrived. While the coordinator is away, the newest report is tried again at
// least every 0.2 s.
#ifndef REKINDLE_WORKER_AGENT_LINES_COORDINATOR_LINK_H_
#define REKINDLE_WORKER_AGENT_LINES_COORDINATOR_LINK_H_

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>

#include "common/agreed/cluster_identity.h"
#include "common/process/waker.h"
#include "common/sync/mutex.h"
#include "rekindle/v1/node.grpc.pb.h"

namespace rekindle::agent {

// A CoordinatorLink is thread-safe.
class CoordinatorLink {
 public:
  struct Delivery {
    // `directive` is the coordinator's new directive. It is unset if the last directive still applies.
    std::optional<v1::NodeDirective> directive;
    // `sent` is when the newest answer was asked for, in boot seconds. `alone_seconds` and `spend_seconds` are what
    // that answer says of the machine (see Alone::Heard).
    double sent = 0;
    double alone_seconds = 0;
    std::optional<double> spend_seconds;
  };

  // `waker` is woken when Take() has an answer of the coordinator to return, and it must outlive the link. `obeys` is
  // the cluster that the node obeys at the start, as it is recorded in the node's folder. `heard` is called on the
  // link's thread when the identity of that cluster changes, before anything else is taken from the coordinator's
  // answer.
  using Heard = std::function<void(const common::ClusterIdentity&)>;
  CoordinatorLink(std::shared_ptr<grpc::Channel> channel, const common::Waker* waker, common::KnownCluster obeys,
                  Heard heard);
  // The destructor cancels the call to the coordinator that is in flight.
  ~CoordinatorLink();

  // Replaces the report to send to the coordinator. The link itself sets known_revision and wait_ms.
  void Publish(v1::NodeReport report);
  // Returns the coordinator's newest answer if one has arrived since Take() was last called.
  std::optional<Delivery> Take();
  // Returns whether the coordinator answered the last call that has ended. The next call may already be waiting at the
  // coordinator.
  bool connected() const;
  // Returns the identity of the cluster that the node obeys.
  common::ClusterIdentity obeys() const;
  // Returns the number of the connection to the coordinator that the node obeys, or 0 while that coordinator is away.
  // The number grows each time that the coordinator is back.
  int64_t connection() const;
  // Returns whether the last answer came from a coordinator that this node does not obey. The node's own coordinator is
  // then away.
  bool foreign() const;

 private:
  void Loop();
  // Makes one call to the coordinator. Returns false if the coordinator is not to be obeyed, or if the call failed for
  // another reason than that the link cancelled it.
  bool CallOnce();
  void NoteFailure(const std::string& why, double again_after) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::unique_ptr<v1::Nodes::Stub> stub_;
  const common::Waker* const waker_;
  const Heard heard_;

  mutable common::Mutex mutex_;
  common::CondVar changed_;
  v1::NodeReport report_ ABSL_GUARDED_BY(mutex_);
  int64_t published_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t answered_ ABSL_GUARDED_BY(mutex_) = 0;
  // After a failed call, the coordinator may be another process than before. So no call may wait at the coordinator
  // before one call has been answered at once.
  bool must_ask_ ABSL_GUARDED_BY(mutex_) = true;
  bool connected_ ABSL_GUARDED_BY(mutex_) = false;
  // `connections_` counts how often a coordinator has answered after it was away.
  int64_t connections_ ABSL_GUARDED_BY(mutex_) = 0;
  bool foreign_ ABSL_GUARDED_BY(mutex_) = false;
  // `complained_at_` is when the log last said that the coordinator is away. It is unset once the coordinator answers.
  std::optional<double> complained_at_ ABSL_GUARDED_BY(mutex_);
  bool complained_of_foreign_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  // `waiting_` is the call to cancel when there is news to report. It is null if no call waits.
  grpc::ClientContext* waiting_ ABSL_GUARDED_BY(mutex_) = nullptr;
  grpc::ClientContext* call_ ABSL_GUARDED_BY(mutex_) = nullptr;
  int known_revision_ ABSL_GUARDED_BY(mutex_) = 0;
  std::optional<Delivery> delivery_ ABSL_GUARDED_BY(mutex_);
  common::KnownCluster obeys_ ABSL_GUARDED_BY(mutex_);
  // Only the link's thread draws random numbers, which add jitter to the retries.
  std::mt19937 random_{std::random_device{}()};
  std::thread thread_;
};

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_LINES_COORDINATOR_LINK_H_
