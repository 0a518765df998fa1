// A device without hardware, as unkind to its user as CUDA may be:
//
//   - The host cannot touch its memory (fake_memory.h), and an operation reaches only the ranges that it has named.
//   - Fresh memory is full of NaN, and freed memory faults. Freeing waits for every queue, for ever if one hangs. An
//     operation that uses reserved memory before it was committed breaks the device.
//   - Operations run late and interleaved by a seed. A copy reads its source when it runs.
//   - Two accesses that no mark orders are reported, even if they happened to run in a good order.
//   - Errors come back late, from a later call, and stay. What a failed operation would have written is overwritten
//     with NaN.
#ifndef REKINDLE_WORKER_DEVICE_FAKE_FAKE_DEVICE_H_
#define REKINDLE_WORKER_DEVICE_FAKE_FAKE_DEVICE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "worker/device/contract/device.h"

namespace rekindle::device {

struct FakeOptions {
  // `seed` draws when what runs. With one thread a seed plays the same order again.
  uint64_t seed = 0;
  // The device has `memory_bytes` bytes of memory. Pinned memory does not count.
  int64_t memory_bytes = int64_t{1} << 40;
  // After and Await number `ignored`, counted together from 0, has no effect. So a test shows that the device finds
  // each order that its user forgets.
  int64_t ignored = -1;
  // Every After and Await at `ignored_place` (see OrderPlaces) is kept, but does not count as an order. So a device
  // that reports nothing shows that nobody needs the order, and one that does has lost nothing of its user's memory.
  std::string ignored_place;
  // `before_run` is called with the queue and the name of each operation before it runs, on the thread that runs it. It
  // may be null.
  std::function<void(Queue queue, const char* name)> before_run;
  // `on_report` is called with each report, on the thread that made the second access. It may be null.
  std::function<void(const std::string&)> on_report;
};

class FakeDevice : public Device {
 public:
  // Returns a sentence for each pair of accesses that no mark orders.
  virtual std::vector<std::string> Reports() = 0;
  // Returns how often After and Await were called.
  virtual int64_t Orders() = 0;
  // Returns the places from which After and Await were called, as "file:line".
  virtual std::set<std::string> OrderPlaces() = 0;

  // Hang(), LoseContext() and LoseDevice() are faults that tests bring about. A queue that hangs runs nothing any more.
  virtual void Hang(Queue queue) = 0;
  virtual void LoseContext(const std::string& words) = 0;
  virtual void LoseDevice(const std::string& words) = 0;
};

std::unique_ptr<FakeDevice> MakeFakeDevice(const FakeOptions& options);

}  // namespace rekindle::device

#endif  // REKINDLE_WORKER_DEVICE_FAKE_FAKE_DEVICE_H_
