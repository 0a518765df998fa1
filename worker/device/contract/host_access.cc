#include "worker/device/contract/host_access.h"

#include <algorithm>
#include <cstring>

namespace rekindle::device {
namespace {

// Pinned memory is dear, so that only so much of it is taken at a time.
constexpr int64_t kPartBytes = 8 * 1024 * 1024;

Operation NamedCopy(const char* name, const Range& from, const Range& to) {
  Operation copy = Copy(from, to);
  copy.name = name;
  return copy;
}

// Calls `pass(part, pinned)` for each part of the range, with pinned memory of its size.
template <typename Pass>
absl::Status InParts(Device& device, const Range& range, const Pass& pass) {
  absl::StatusOr<PinnedMemory> pinned =
      device.AllocatePinned(std::min(kPartBytes, range.bytes), range.block->purpose());
  if (!pinned.ok()) return pinned.status();
  for (int64_t at = 0; at < range.bytes; at += kPartBytes) {
    const int64_t bytes = std::min(kPartBytes, range.bytes - at);
    if (absl::Status status = pass(range.Part(at, bytes), at, *pinned); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadOnHost(Device& device, Queue queue, const char* name, const Range& range,
                        const std::function<void(std::span<const std::byte>)>& look) {
  if (range.bytes == 0) return absl::OkStatus();
  // The processor reads its own memory in place.
  if (device.IsHost()) {
    return RunAndAwait(device, queue, {.name = name, .reads = {range}, .writes = {}, .run = [&](const Addresses& at) {
                                         look({at.Read<std::byte>(0), static_cast<size_t>(range.bytes)});
                                         return absl::OkStatus();
                                       }});
  }
  return InParts(device, range, [&](const Range& part, int64_t, PinnedMemory& pinned) {
    absl::Status status = RunAndAwait(device, queue, NamedCopy(name, part, pinned.Part(0, part.bytes)));
    if (status.ok()) look(pinned.ForReading(0, part.bytes));
    return status;
  });
}

absl::Status ReadToHost(Device& device, Queue queue, const char* name, const Range& range, std::span<std::byte> to) {
  common::Check(static_cast<int64_t>(to.size()) == range.bytes, "there is room for all bytes that are read");
  size_t at = 0;
  return ReadOnHost(device, queue, name, range, [&](std::span<const std::byte> bytes) {
    std::memcpy(to.data() + at, bytes.data(), bytes.size());
    at += bytes.size();
  });
}

absl::Status WriteFromHost(Device& device, Queue queue, const char* name, std::span<const std::byte> bytes,
                           const Range& range) {
  common::Check(static_cast<int64_t>(bytes.size()) == range.bytes, "as many bytes are written as there is room for");
  if (range.bytes == 0) return absl::OkStatus();
  return InParts(device, range, [&](const Range& part, int64_t at, PinnedMemory& pinned) {
    std::memcpy(pinned.ForWriting(0, part.bytes).data(), bytes.data() + at, static_cast<size_t>(part.bytes));
    return RunAndAwait(device, queue, NamedCopy(name, pinned.Part(0, part.bytes), part));
  });
}

}  // namespace rekindle::device
