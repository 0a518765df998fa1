// Holds the shared memory into which the model process writes gradients.
#ifndef REKINDLE_WORKER_OWN_MODEL_MODEL_GRADIENT_SLOTS_H_
#define REKINDLE_WORKER_OWN_MODEL_MODEL_GRADIENT_SLOTS_H_

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/files/unique_fd.h"
#include "worker/own_model/wire/channel.h"

namespace rekindle::own_model {

// The process may write to a slot while this process reads it, but not change its size, so reading it is always safe.
// The class is movable and thread-compatible.
class GradientSlots {
 public:
  // While one slot is read, the process fills the other one.
  static constexpr int kSlots = 2;

  // Makes the slots for `elements` floats each. Returns RESOURCE_EXHAUSTED if there is no room.
  static absl::StatusOr<GradientSlots> Create(int64_t elements);
  GradientSlots(GradientSlots&& other) noexcept;
  GradientSlots& operator=(GradientSlots&&) = delete;
  ~GradientSlots();

  // Gives the slots to the process at the other end.
  absl::Status Share(Channel& channel) const;
  // Returns a part of a slot, in elements.
  std::span<const float> Part(int slot, int64_t offset, int64_t count) const;

 private:
  GradientSlots(common::UniqueFd file, const std::byte* memory, uint64_t slot_bytes);

  common::UniqueFd file_;
  const std::byte* memory_ = nullptr;
  uint64_t slot_bytes_ = 0;
};

}  // namespace rekindle::own_model

#endif  // REKINDLE_WORKER_OWN_MODEL_MODEL_GRADIENT_SLOTS_H_
