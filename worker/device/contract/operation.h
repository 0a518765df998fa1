// Describes a piece of work that a queue of a device runs.
#ifndef REKINDLE_WORKER_DEVICE_CONTRACT_OPERATION_H_
#define REKINDLE_WORKER_DEVICE_CONTRACT_OPERATION_H_

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "kernels/cuda/plugin_api.h"
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

// Names the queue on which an operation launches its work on a GPU, and where it writes the words of an error.
struct CudaQueue {
  const RekindleCudaApi* api = nullptr;
  // `queue` is a cudaStream_t.
  void* queue = nullptr;
  char* error = nullptr;
  size_t error_size = 0;
};

// An operation reads and writes only its ranges. A range that it reads and writes is in `writes`.
struct Operation {
  // `name` appears in messages. It must outlive the operation.
  const char* name = "";
  std::vector<Range> reads;
  std::vector<Range> writes;
  // `run` does the work of the operation. It may run on any thread and long after it was queued, so it must own what it
  // uses. After an error the device is broken: nothing that was queued behind the operation runs, and every later call
  // returns the error.
  std::function<absl::Status(const Addresses&)> run;
  // `on_cuda` launches the work of the operation on a GPU, with the same bits, and returns 0 or the number of CUDA's
  // error. It runs on the thread that queues the operation. An operation in which this is null cannot run on a GPU.
  std::function<int(const Addresses&, const CudaQueue&)> on_cuda;
  // `awaits_others` says that `run` waits for other ranks. Meanwhile other queues go on.
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

// Returns an operation that copies the bytes of `from` to `to`. The ranges must have the same size and not overlap. One
// of them may be pinned memory. The source is read when the operation runs.
Operation Copy(const Range& from, const Range& to);
// Returns an operation that sets all bytes of the range to 0.
Operation Zero(const Range& range);

}  // namespace rekindle::device

#endif  // REKINDLE_WORKER_DEVICE_CONTRACT_OPERATION_H_
