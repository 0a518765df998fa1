// Describes a piece of work that a queue of a device runs.
#ifndef REKINDLE_WORKER_DEVICE_CONTRACT_OPERATION_H_
#define REKINDLE_WORKER_DEVICE_CONTRACT_OPERATION_H_

#include <cstddef>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "kernels/table/kernel_table.h"
#include "worker/device/contract/memory.h"

namespace rekindle::device {

// Gives a running operation the addresses of its ranges. They are valid until the operation ends, and nobody may keep
// them.
class Addresses {
 public:
  Addresses(std::vector<const void*> reads, std::vector<void*> writes)
      : reads_(std::move(reads)), writes_(std::move(writes)) {}

  // Returns the address of `Operation::reads[i]`.
  template <typename T>
  const T* Read(size_t i) const {
    return static_cast<const T*>(reads_.at(i));
  }
  // Returns the address of `Operation::writes[i]`.
  template <typename T>
  T* Write(size_t i) const {
    return static_cast<T*>(writes_.at(i));
  }

 private:
  std::vector<const void*> reads_;
  std::vector<void*> writes_;
};

// Says by which kernels an operation does its work, and on which queue of the device.
struct Launch {
  const RekindleKernels* kernels = nullptr;
  // `queue` is a cudaStream_t, or null on the processor.
  void* queue = nullptr;
  // The words of an error go to `error`.
  char* error = nullptr;
  size_t error_size = 0;

  // Launches a kernel. Returns 0, or the number of CUDA's error.
  template <typename Arguments>
  int operator()(RekindleKernel<Arguments> RekindleKernels::*kernel,
                 const std::type_identity_t<Arguments>& arguments) const {
    return (kernels->*kernel)(&arguments, queue, error, error_size);
  }
};

// An operation reads and writes only its ranges. A range that it reads and writes is in `writes`.
struct Operation {
  // `name` appears in messages. It must outlive the operation.
  const char* name = "";
  std::vector<Range> reads;
  std::vector<Range> writes;
  // `launch` does the work of the operation by kernels, on the processor at once and on a GPU later. Returns 0 or the
  // number of CUDA's error. On a GPU it is called by the thread that queues the operation.
  std::function<int(const Addresses&, const Launch&)> launch;
  // `run` does the work on the processor, in place of `launch`. An operation without `launch` cannot run on a GPU.
  // `run` may be called by any thread and long after it was queued, and so may `launch` on the processor, so both must
  // own what they use. After an error the device is broken: nothing that was queued behind the operation runs, and
  // every later call returns the error.
  std::function<absl::Status(const Addresses&)> run;
  // `awaits_others` says that the operation waits for other ranks. Meanwhile other queues go on.
  bool awaits_others = false;
};

// Returns the addresses of the operation's ranges, where `address_of` gives the address of a range. A range without a
// block, which has no bytes, has a null address.
template <typename AddressOf>
Addresses AddressesOf(const Operation& operation, AddressOf address_of) {
  std::vector<const void*> reads;
  std::vector<void*> writes;
  reads.reserve(operation.reads.size());
  writes.reserve(operation.writes.size());
  const auto address = [&](const Range& range) { return range.block == nullptr ? nullptr : address_of(range); };
  for (const Range& range : operation.reads) reads.push_back(address(range));
  for (const Range& range : operation.writes) writes.push_back(address(range));
  return {std::move(reads), std::move(writes)};
}

// Does the work of an operation on the processor.
absl::Status RunOnHost(const Operation& operation, const Addresses& at);

// Returns an operation that copies the bytes of `from` to `to`. The ranges must have the same size and not overlap. One
// of them may be pinned memory. The source is read when the operation runs.
Operation Copy(const Range& from, const Range& to);
// Returns an operation that sets all bytes of the range to 0.
Operation Zero(const Range& range);

}  // namespace rekindle::device

#endif  // REKINDLE_WORKER_DEVICE_CONTRACT_OPERATION_H_
