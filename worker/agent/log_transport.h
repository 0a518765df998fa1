// Nodes.KeepLines of the coordinator, as a log shipper calls it.
#ifndef REKINDLE_WORKER_AGENT_LOG_TRANSPORT_H_
#define REKINDLE_WORKER_AGENT_LOG_TRANSPORT_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <mutex>

#include "absl/status/statusor.h"
#include "common/rpc.h"
#include "rekindle/v1/node.grpc.pb.h"

namespace rekindle::agent {

// Thread-safe.
class LogTransport {
 public:
  explicit LogTransport(std::shared_ptr<grpc::Channel> channel) : stub_(v1::Nodes::NewStub(std::move(channel))) {}

  absl::StatusOr<v1::LogReply> Send(const v1::LogReport& report) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kDeadline);
    {
      const std::lock_guard lock(mutex_);
      if (cancelled_) return absl::CancelledError("the agent ends");
      call_ = &context;
    }
    v1::LogReply reply;
    const grpc::Status status = stub_->KeepLines(&context, report, &reply);
    const std::lock_guard lock(mutex_);
    call_ = nullptr;
    if (!status.ok()) return common::StatusFromGrpc(status);
    return reply;
  }

  // Ends the call that waits, and all that come after it.
  void Cancel() {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
    if (call_ != nullptr) call_->TryCancel();
  }

 private:
  static constexpr auto kDeadline = std::chrono::seconds(10);

  const std::unique_ptr<v1::Nodes::Stub> stub_;
  std::mutex mutex_;
  bool cancelled_ = false;
  grpc::ClientContext* call_ = nullptr;
};

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_LOG_TRANSPORT_H_
