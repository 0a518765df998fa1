#include "worker/train/state/float_buffer.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace rekindle::train {

FloatBuffer FloatBuffer::ZerosIn(device::Device& device, device::Memory memory) {
  FloatBuffer buffer;
  buffer.device_ = &device;
  buffer.memory_ = std::move(memory);
  device.Run(device::Queue::kCompute, device::Zero(buffer.all()));
  return buffer;
}

absl::StatusOr<FloatBuffer> FloatBuffer::Zeros(device::Device& device, int64_t size, const std::string& purpose) {
  absl::StatusOr<device::Memory> memory = device.Allocate(size * kElement, purpose);
  if (!memory.ok()) return memory.status();
  return ZerosIn(device, *std::move(memory));
}

absl::StatusOr<FloatBuffer> FloatBuffer::Readable(device::Device& device, int64_t size, const std::string& purpose) {
  absl::StatusOr<device::Memory> memory = device.AllocateReadable(size * kElement, purpose);
  if (!memory.ok()) return memory.status();
  return ZerosIn(device, *std::move(memory));
}

absl::StatusOr<FloatBuffer> FloatBuffer::Reserved(device::Device& device, int64_t size, const std::string& purpose) {
  absl::StatusOr<device::Memory> memory = device.Reserve(size * kElement, purpose);
  if (!memory.ok()) return memory.status();
  FloatBuffer buffer;
  buffer.device_ = &device;
  buffer.memory_ = *std::move(memory);
  buffer.committed_.resize(static_cast<size_t>((size + kUnit - 1) / kUnit));
  return buffer;
}

device::Range FloatBuffer::Units(size_t first, size_t end) const {
  const int64_t begin = static_cast<int64_t>(first) * kUnit;
  return Part(begin, std::min(static_cast<int64_t>(end) * kUnit, size()) - begin);
}

absl::Status FloatBuffer::ChangeUnits(int64_t begin, int64_t end, bool committed,
                                      const std::function<absl::Status(const device::Range&)>& change) {
  const auto units_end = static_cast<size_t>((end + kUnit - 1) / kUnit);
  for (auto unit = static_cast<size_t>(begin / kUnit); unit < units_end && !committed_.empty();) {
    size_t next = unit + 1;
    while (next < units_end && committed_[next] == committed_[unit]) ++next;
    if (committed_[unit] != committed) {
      if (absl::Status status = change(Units(unit, next)); !status.ok()) return status;
      std::fill(committed_.begin() + static_cast<std::ptrdiff_t>(unit),
                committed_.begin() + static_cast<std::ptrdiff_t>(next), committed);
    }
    unit = next;
  }
  return absl::OkStatus();
}

absl::Status FloatBuffer::Commit(int64_t begin, int64_t end) {
  return ChangeUnits(begin, end, true, [this](const device::Range& range) {
    absl::Status status = device_->Commit(range);
    if (status.ok()) device_->Run(device::Queue::kCompute, device::Zero(range));
    return status;
  });
}

void FloatBuffer::Release(int64_t begin, int64_t end) {
  const auto decommit = [this](const device::Range& range) {
    device_->Decommit(range);
    return absl::OkStatus();
  };
  ChangeUnits(begin, end, false, decommit).IgnoreError();
}

int64_t FloatBuffer::bytes() const {
  if (committed_.empty()) return memory_.bytes();
  int64_t bytes = 0;
  for (size_t unit = 0; unit < committed_.size(); ++unit) {
    if (committed_[unit]) bytes += Units(unit, unit + 1).bytes;
  }
  return bytes;
}

}  // namespace rekindle::train
