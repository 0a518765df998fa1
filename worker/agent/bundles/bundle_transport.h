// Gets pieces of bundles from the coordinator (Nodes.GetBundle) for a bundle keeper.
#ifndef REKINDLE_WORKER_AGENT_BUNDLES_BUNDLE_TRANSPORT_H_
#define REKINDLE_WORKER_AGENT_BUNDLES_BUNDLE_TRANSPORT_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "common/rpc/rpc.h"
#include "common/sync/mutex.h"
#include "rekindle/v1/node.grpc.pb.h"

namespace rekindle::agent {

// A BundleTransport is thread-safe.
class BundleTransport {
 public:
  explicit BundleTransport(std::shared_ptr<grpc::Channel> channel) : stub_(v1::Nodes::NewStub(std::move(channel))) {}

  absl::StatusOr<v1::GetBundleReply> Get(const v1::GetBundleRequest& request) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kDeadline);
    {
      const common::MutexLock lock(mutex_);
      if (cancelled_) return absl::CancelledError("the agent ends");
      call_ = &context;
    }
    v1::GetBundleReply reply;
    const grpc::Status status = stub_->GetBundle(&context, request, &reply);
    const common::MutexLock lock(mutex_);
    call_ = nullptr;
    if (!status.ok()) return common::StatusFromGrpc(status);
    return reply;
  }

  // Cancels the call that is in flight, and all later calls.
  void Cancel() {
    const common::MutexLock lock(mutex_);
    cancelled_ = true;
    if (call_ != nullptr) call_->TryCancel();
  }

 private:
  // A call waits at the coordinator until its turn has come.
  static constexpr auto kDeadline = std::chrono::seconds(120);

  const std::unique_ptr<v1::Nodes::Stub> stub_;
  common::Mutex mutex_;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  grpc::ClientContext* call_ ABSL_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_BUNDLES_BUNDLE_TRANSPORT_H_
