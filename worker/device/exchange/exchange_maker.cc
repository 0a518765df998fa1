#include "worker/device/exchange/exchange_maker.h"

#include <algorithm>
#include <utility>

#include "worker/device/exchange/host_exchange.h"
#include "worker/device/exchange/staged_exchange.h"

namespace rekindle::device {

ExchangeMaker::~ExchangeMaker() {
  for (const auto& session : state_.sessions) (void)session->AwaitEnd(kNcclEndSeconds);
}

absl::Status ExchangeMaker::Allocate(int64_t most_bytes) {
  const int64_t piece = std::min(most_bytes, kMostReducedBytes);
  if (!device_.IsHost()) {
    absl::StatusOr<PinnedMemory> staging = device_.AllocatePinned(piece, "what ranks exchange");
    if (!staging.ok()) return staging.status();
    staging_ = *std::move(staging);
  }
  return nccl_.api == nullptr ? absl::OkStatus() : state_.landing.Allocate(device_, piece);
}

absl::StatusOr<std::unique_ptr<Exchange>> ExchangeMaker::Make(comm::Communicator& communicator, Transport transport) {
  if (transport == Transport::kHost) {
    if (device_.IsHost()) return MakeHostExchange(device_, communicator);
    return MakeStagedExchange(device_, communicator, staging_);
  }
  if (nccl_.api == nullptr) {
    return absl::FailedPreconditionError("the generation exchanges by NCCL, which this rank does not have");
  }
  if (state_.is_left) {
    return absl::FailedPreconditionError(
        "the generation exchanges by NCCL, which this process does not use any more, because it did not come to its "
        "end");
  }
  std::erase_if(state_.sessions, [](const auto& session) { return session->AwaitEnd(0); });
  state_.sessions.push_back(std::make_shared<comm::NcclSession>(*nccl_.api));
  return MakeNcclExchange(device_, communicator, nccl_, state_);
}

}  // namespace rekindle::device
