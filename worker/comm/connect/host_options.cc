#include "worker/comm/connect/host_options.h"

#include "absl/strings/str_cat.h"
#include "common/agreed/agreed_limits.h"

namespace rekindle::comm {

absl::Status CheckHostOptions(const HostOptions& options) {
  const int world = static_cast<int>(options.peers.size());
  if (world >= 1 && world <= common::kMaxWorldSize && options.rank >= 0 && options.rank < world &&
      options.generation >= 0) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("rank ", options.rank, " of ", world, " in generation ",
                                                 options.generation, ": at most ", common::kMaxWorldSize,
                                                 " ranks, and the rank must be one of them"));
}

}  // namespace rekindle::comm
