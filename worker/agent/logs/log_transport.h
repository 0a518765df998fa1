// Sends log lines to the coordinator (Nodes.KeepLines) for a log shipper.
#ifndef REKINDLE_WORKER_AGENT_LOGS_LOG_TRANSPORT_H_
#define REKINDLE_WORKER_AGENT_LOGS_LOG_TRANSPORT_H_

#include <grpcpp/grpcpp.h>

#include <memory>

#include "absl/status/statusor.h"
#include "common/rpc/rpc.h"
#include "common/sync/mutex.h"
#include "rekindle/v1/node.grpc.pb.h"

namespace rekindle::agent {

// A LogTransport is thread-safe.
class LogTransport {
 public:
  explicit LogTransport(std::shared_ptr<grpc::Channel> channel) : stub_(v1::Nodes::NewStub(std::move(channel))) {}

  absl::StatusOr<v1::LogReply> Send(const v1::LogReport& report) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kDeadline);
    {
      const common::MutexLock lock(mutex_);
      if (cancelled_) return absl::CancelledError("the agent ends");
      call_ = &context;
    }
    v1::LogReply reply;
    const grpc::Status status = stub_->KeepLines(&context, report, &reply);
    const common::MutexLock lock(mutex_);
    call_ = nullptr;
    if (!status.ok()) return common::StatusFromGrpc(status);
    return reply;
  }

  // Cancels the call to the coordinator that is in flight, and all later calls.
  void Cancel() {
    const common::MutexLock lock(mutex_);
    cancelled_ = true;
    if (call_ != nullptr) call_->TryCancel();
  }

 private:
  static constexpr auto kDeadline = std::chrono::seconds(10);

  const std::unique_ptr<v1::Nodes::Stub> stub_;
  common::Mutex mutex_;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  grpc::ClientContext* call_ ABSL_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_LOGS_LOG_TRANSPORT_H_
