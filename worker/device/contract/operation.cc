#include "worker/device/contract/operation.h"

#include <string>

#include "kernels/table/host_kernels.h"

namespace rekindle::device {

absl::Status RunOnHost(const Operation& operation, const Addresses& at) {
  if (operation.run != nullptr) return operation.run(at);
  char words[256] = "";
  const Launch on{.kernels = &kernels::HostKernels(), .error = words, .error_size = sizeof words};
  const int code = operation.launch(at, on);
  return code == 0 ? absl::OkStatus() : absl::InternalError(std::string(operation.name) + ": " + words);
}

Operation Copy(const Range& from, const Range& to) {
  common::Check(from.bytes == to.bytes, "a copy has as many bytes at its end as at its beginning");
  return {.name = "copy",
          .reads = {from},
          .writes = {to},
          .launch = [bytes = static_cast<size_t>(from.bytes)](const Addresses& at, const Launch& on) {
            return on(&RekindleKernels::copy, {.to = at.Write<void>(0), .from = at.Read<void>(0), .bytes = bytes});
          }};
}

Operation Zero(const Range& range) {
  return {.name = "zero",
          .reads = {},
          .writes = {range},
          .launch = [bytes = static_cast<size_t>(range.bytes)](const Addresses& at, const Launch& on) {
            return on(&RekindleKernels::fill, {.memory = at.Write<void>(0), .byte = 0, .bytes = bytes});
          }};
}

}  // namespace rekindle::device
