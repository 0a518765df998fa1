#include "checkpoint/client/client_channel.h"

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "checkpoint/wire/service_limits.h"
#include "common/rpc/rpc.h"
#include "common/sync/mutex.h"

namespace rekindle::checkpoint {

absl::StatusOr<std::shared_ptr<grpc::Channel>> OpenClientChannel(const std::string& socket) {
  common::ChannelOptions options;
  options.max_message_bytes = kMaxServiceMessage;
  return common::Connect("unix:" + socket, options);
}

bool ClientChannel::AwaitConnected(double until) {
  // The wait for a connection is cut into slices of `kSlice`, so that Cancel() is noticed soon.
  constexpr auto kSlice = std::chrono::milliseconds(50);
  while (common::SteadySeconds() < until) {
    if (channel_->WaitForConnected(std::chrono::system_clock::now() + kSlice)) break;
    if (!Sleep(0)) return false;
  }
  return true;
}

bool ClientChannel::Sleep(double seconds) {
  common::MutexLock lock(mutex_);
  return !cancelled_changed_.WaitFor(lock, std::chrono::duration<double>(seconds),
                                     [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return cancelled_; });
}

void ClientChannel::Cancel() {
  const common::MutexLock lock(mutex_);
  cancelled_ = true;
  for (grpc::ClientContext* context : active_) context->TryCancel();
  cancelled_changed_.NotifyAll();
}

bool ClientChannel::Enter(grpc::ClientContext* context, double seconds) {
  context->set_deadline(std::chrono::system_clock::now() +
                        std::chrono::microseconds(static_cast<int64_t>(seconds * 1e6)));
  const common::MutexLock lock(mutex_);
  if (cancelled_) return false;
  active_.insert(context);
  return true;
}

absl::Status ClientChannel::Leave(grpc::ClientContext* context, const grpc::Status& answer, double seconds) {
  const common::MutexLock lock(mutex_);
  active_.erase(context);
  if (cancelled_) return absl::CancelledError("cancelled");
  if (answer.error_code() == grpc::StatusCode::UNAVAILABLE) {
    return absl::UnavailableError(
        absl::StrCat("the checkpoint service at ", socket_, " is away: ", answer.error_message()));
  }
  if (answer.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED) {
    return absl::DeadlineExceededError(
        absl::StrCat("the checkpoint service at ", socket_, " did not answer within ", seconds, " s"));
  }
  return common::StatusFromGrpc(answer);
}

}  // namespace rekindle::checkpoint
