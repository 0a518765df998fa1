#include "worker/device/exchange/exchange_maker.h"

#include <algorithm>
#include <utility>

#include "worker/device/exchange/host_exchange.h"
#include "worker/device/exchange/staged_exchange.h"

namespace rekindle::device {

absl::Status ExchangeMaker::Allocate(int64_t most_bytes) {
  if (device_.IsHost()) return absl::OkStatus();
  absl::StatusOr<PinnedMemory> staging =
      device_.AllocatePinned(std::min(most_bytes, kMostReducedBytes), "what ranks exchange");
  if (!staging.ok()) return staging.status();
  staging_ = *std::move(staging);
  return absl::OkStatus();
}

std::unique_ptr<Exchange> ExchangeMaker::Make(comm::Communicator& communicator) {
  if (device_.IsHost()) return MakeHostExchange(device_, communicator);
  return MakeStagedExchange(device_, communicator, staging_);
}

}  // namespace rekindle::device
