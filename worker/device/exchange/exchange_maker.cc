#include "worker/device/exchange/exchange_maker.h"

#include <algorithm>
#include <utility>

#include "common/check/check.h"
#include "worker/device/exchange/host_exchange.h"
#include "worker/device/exchange/nccl_exchange.h"
#include "worker/device/exchange/staged_exchange.h"

namespace rekindle::device {
namespace {

// An end of NCCL that takes longer waits for a kernel that hangs.
constexpr double kEndSeconds = 5;

}  // namespace

ExchangeMaker::~ExchangeMaker() {
  for (const auto& session : ending_) (void)session->AwaitEnd(kEndSeconds);
}

absl::Status ExchangeMaker::Allocate(int64_t most_bytes) {
  if (device_.IsHost()) return absl::OkStatus();
  absl::StatusOr<PinnedMemory> staging =
      device_.AllocatePinned(std::min(most_bytes, kMostReducedBytes), "what ranks exchange");
  if (!staging.ok()) return staging.status();
  staging_ = *std::move(staging);
  return absl::OkStatus();
}

std::unique_ptr<Exchange> ExchangeMaker::Make(comm::Communicator& communicator, Transport transport) {
  if (transport == Transport::kNccl) {
    common::Check(nccl_.api != nullptr, "a rank without NCCL is in no generation that exchanges by it");
    std::erase_if(ending_, [](const auto& session) { return session->AwaitEnd(0); });
    ending_.push_back(std::make_shared<comm::NcclSession>(*nccl_.api));
    return MakeNcclExchange(device_, communicator, *nccl_.api, nccl_.gpu, ending_.back());
  }
  if (device_.IsHost()) return MakeHostExchange(device_, communicator);
  return MakeStagedExchange(device_, communicator, staging_);
}

}  // namespace rekindle::device
