// Holds large arrays of floats in the memory of a device.
#ifndef REKINDLE_WORKER_TRAIN_STATE_FLOAT_BUFFER_H_
#define REKINDLE_WORKER_TRAIN_STATE_FLOAT_BUFFER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/device/contract/device.h"

namespace rekindle::train {

// Owns floats. It can be moved but not copied. It is thread-compatible.
class FloatBuffer {
 public:
  FloatBuffer() = default;
  // Returns a buffer of zeros, or RESOURCE_EXHAUSTED if the device has no room. `purpose` names the buffer in messages.
  // `device` must outlive the buffer.
  static absl::StatusOr<FloatBuffer> Zeros(device::Device& device, int64_t size, const std::string& purpose);
  // Returns a buffer of zeros in memory that another process may have to read (Device::AllocateReadable).
  static absl::StatusOr<FloatBuffer> Readable(device::Device& device, int64_t size, const std::string& purpose);
  // Returns a buffer that takes no memory until parts of it are committed.
  static absl::StatusOr<FloatBuffer> Reserved(device::Device& device, int64_t size, const std::string& purpose);

  // Gives memory to the elements [begin, end) of a buffer from Reserved(), where they have none yet. They are zeros
  // then. Release() takes the memory away, with the values. Both ends are multiples of kUnit elements, or the end of
  // the buffer.
  absl::Status Commit(int64_t begin, int64_t end);
  void Release(int64_t begin, int64_t end);
  // Returns the bytes of memory that the buffer takes now.
  int64_t bytes() const;

  int64_t size() const { return memory_.bytes() / kElement; }
  device::Range all() const { return memory_.all(); }
  device::Range Part(int64_t begin, int64_t count) const { return memory_.Part(begin * kElement, count * kElement); }

 private:
  static constexpr int64_t kElement = sizeof(float);
  static constexpr int64_t kUnit = device::kCommitBytes / kElement;

  static FloatBuffer ZerosIn(device::Device& device, device::Memory memory);
  // Calls `change` for each run of units of [begin, end) that are not as `committed` says, and notes that they are now.
  // Returns its first error.
  absl::Status ChangeUnits(int64_t begin, int64_t end, bool committed,
                           const std::function<absl::Status(const device::Range&)>& change);
  // Returns the bytes of the units [first, end).
  device::Range Units(size_t first, size_t end) const;

  device::Device* device_ = nullptr;
  device::Memory memory_;
  // `committed_` says for each unit of reserved memory whether it was committed. It is empty for other memory.
  std::vector<bool> committed_;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_STATE_FLOAT_BUFFER_H_
