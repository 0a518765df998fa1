#include "worker/own_model/model/gradient_slots.h"

#include <sys/mman.h>

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/memory/huge_pages.h"
#include "common/process/process.h"

namespace rekindle::own_model {

GradientSlots::GradientSlots(common::UniqueFd file, const std::byte* memory, uint64_t slot_bytes)
    : file_(std::move(file)), memory_(memory), slot_bytes_(slot_bytes) {}

GradientSlots::GradientSlots(GradientSlots&& other) noexcept
    : file_(std::move(other.file_)), memory_(std::exchange(other.memory_, nullptr)), slot_bytes_(other.slot_bytes_) {}

GradientSlots::~GradientSlots() {
  if (memory_ != nullptr) munmap(const_cast<std::byte*>(memory_), kSlots * slot_bytes_);
}

absl::StatusOr<GradientSlots> GradientSlots::Create(int64_t elements) {
  constexpr uint64_t kPage = 4096;
  const uint64_t bytes = (static_cast<uint64_t>(elements) * sizeof(float) + kPage - 1) / kPage * kPage;
  absl::StatusOr<common::UniqueFd> file = MakeMemoryFile("rekindle-gradients", kSlots * bytes);
  if (!file.ok()) return file.status();
  void* memory = mmap(nullptr, kSlots * bytes, PROT_READ, MAP_SHARED, file->get(), 0);
  if (memory == MAP_FAILED) return common::ErrnoError("mmap of the gradients");
  GradientSlots slots(*std::move(file), static_cast<const std::byte*>(memory), bytes);
  if (const int error = common::FillMappedFile(slots.file_.get(), memory, kSlots * bytes); error != 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no ", kSlots * bytes, " bytes of shared memory for gradients: ", std::strerror(error)));
  }
  return slots;
}

absl::Status GradientSlots::Share(Channel& channel) const {
  return channel.Send(MessageType::kSlots, EncodeSlots(kSlots, slot_bytes_), file_.get());
}

std::span<const float> GradientSlots::Part(int slot, int64_t offset, int64_t count) const {
  const auto* const first = reinterpret_cast<const float*>(memory_ + static_cast<uint64_t>(slot) * slot_bytes_);
  return {first + offset, static_cast<size_t>(count)};
}

}  // namespace rekindle::own_model
