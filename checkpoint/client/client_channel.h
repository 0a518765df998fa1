// Calls the checkpoint service. The calls have a deadline, survive a restart of the service, and can be cancelled from
// any thread.
#ifndef REKINDLE_CHECKPOINT_CLIENT_CLIENT_CHANNEL_H_
#define REKINDLE_CHECKPOINT_CLIENT_CLIENT_CHANNEL_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/sync/mutex.h"
#include "common/time/clock.h"
#include "rekindle/v1/checkpoint.grpc.pb.h"

namespace rekindle::checkpoint {

absl::StatusOr<std::shared_ptr<grpc::Channel>> OpenClientChannel(const std::string& socket);

// Makes calls to the checkpoint service through one channel. The class is thread-safe.
class ClientChannel {
 public:
  template <typename Request, typename Reply>
  using Method = grpc::Status (v1::Checkpoints::Stub::*)(grpc::ClientContext*, const Request&, Reply*);

  ClientChannel(std::shared_ptr<grpc::Channel> channel, std::string socket)
      : channel_(std::move(channel)), stub_(v1::Checkpoints::NewStub(channel_)), socket_(std::move(socket)) {}

  // Makes a call in which one attempt may take `seconds`. After UNAVAILABLE it is tried again for `patience` seconds,
  // so calls must be safe to repeat.
  template <typename Request, typename Reply>
  absl::Status Call(Method<Request, Reply> method, const Request& request, Reply* reply, double seconds,
                    double patience) {
    const double until = common::SteadySeconds() + patience;
    while (true) {
      grpc::ClientContext context;
      if (!Enter(&context, seconds)) return absl::CancelledError("cancelled");
      const grpc::Status answer = (stub_.get()->*method)(&context, request, reply);
      const absl::Status status = Leave(&context, answer, seconds);
      if (!absl::IsUnavailable(status) || common::SteadySeconds() >= until) return status;
      if (!Sleep(kRetrySeconds) || !AwaitConnected(until)) return absl::CancelledError("cancelled");
    }
  }

  // Sleeps. Returns false, without delay, if the channel was cancelled.
  bool Sleep(double seconds);
  // Ends pending and later calls of the channel.
  void Cancel();

 private:
  static constexpr double kRetrySeconds = 0.01;

  // Waits until the channel is connected or `until` has passed. Returns false if the channel was cancelled. A
  // connection makes progress only while some thread waits in gRPC, so after a plain sleep between attempts a service
  // that is back would go unnoticed for seconds.
  bool AwaitConnected(double until);
  bool Enter(grpc::ClientContext* context, double seconds);
  absl::Status Leave(grpc::ClientContext* context, const grpc::Status& answer, double seconds);

  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<v1::Checkpoints::Stub> stub_;
  const std::string socket_;
  common::Mutex mutex_;
  common::CondVar cancelled_changed_;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  std::set<grpc::ClientContext*> active_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_CLIENT_CLIENT_CHANNEL_H_
