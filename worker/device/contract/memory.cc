#include "worker/device/contract/memory.h"

#include "absl/strings/str_cat.h"
#include "common/memory/memory_limit.h"

namespace rekindle::device {

absl::Status NoRoom(double free_bytes, double all_bytes, int64_t bytes, const std::string& purpose) {
  return absl::ResourceExhaustedError(
      absl::StrCat("the device has ", common::BytesText(free_bytes), " of ", common::BytesText(all_bytes),
                   " free, and ", purpose, " takes ", common::BytesText(static_cast<double>(bytes)),
                   ": take a smaller model, or a device with more memory; training.reduce: fp32 halves the memory of "
                   "gradients, and training.optimizer_state: sharded that of moments where the device can give parts "
                   "of its memory back, as a GPU cannot yet"));
}

}  // namespace rekindle::device
