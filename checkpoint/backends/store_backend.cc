#include "checkpoint/backends/store_backend.h"

#include "absl/strings/str_cat.h"

namespace rekindle::checkpoint {

absl::Status ChangedAfterHandOver(const std::string& found, const std::string& announced) {
  return absl::DataLossError(absl::StrCat("a shard's bytes have the XXH3 ", found, ", but ", announced,
                                          " was announced: it was changed after its hand-over"));
}

}  // namespace rekindle::checkpoint
