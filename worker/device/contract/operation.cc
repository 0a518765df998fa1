#include "worker/device/contract/operation.h"

#include <cstring>

namespace rekindle::device {

Operation Copy(const Range& from, const Range& to) {
  common::Check(from.bytes == to.bytes, "a copy has as many bytes at its end as at its beginning");
  return {.name = "copy",
          .reads = {from},
          .writes = {to},
          .run =
              [bytes = from.bytes](const Addresses& at) {
                std::memcpy(at.Write<std::byte>(0), at.Read<std::byte>(0), static_cast<size_t>(bytes));
                return absl::OkStatus();
              },
          .on_cuda =
              [bytes = from.bytes](const Addresses& at, const CudaQueue& on) {
                return on.api->device->copy(at.Write<std::byte>(0), at.Read<std::byte>(0), static_cast<size_t>(bytes),
                                            on.queue, on.error, on.error_size);
              }};
}

Operation Zero(const Range& range) {
  return {.name = "zero",
          .reads = {},
          .writes = {range},
          .run =
              [bytes = range.bytes](const Addresses& at) {
                std::memset(at.Write<std::byte>(0), 0, static_cast<size_t>(bytes));
                return absl::OkStatus();
              },
          .on_cuda =
              [bytes = range.bytes](const Addresses& at, const CudaQueue& on) {
                return on.api->device->fill(at.Write<std::byte>(0), 0, static_cast<size_t>(bytes), on.queue, on.error,
                                            on.error_size);
              }};
}

}  // namespace rekindle::device
