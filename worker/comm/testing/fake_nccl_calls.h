// Counts the calls of the fake NCCL in a test's process, and lets faults befall them.
#ifndef REKINDLE_WORKER_COMM_TESTING_FAKE_NCCL_CALLS_H_
#define REKINDLE_WORKER_COMM_TESTING_FAKE_NCCL_CALLS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <utility>

#include "worker/comm/nccl/fake_nccl.h"

namespace rekindle::comm {

// Only one FakeNcclCalls may exist at a time. The class is thread-safe.
class FakeNcclCalls {
 public:
  FakeNcclCalls() { Befall({}); }
  ~FakeNcclCalls() { SetFakeNcclFaults({}); }
  FakeNcclCalls(const FakeNcclCalls&) = delete;
  FakeNcclCalls& operator=(const FakeNcclCalls&) = delete;

  // Replaces the function that says what befalls each call. Calls of earlier functions may still be running.
  void Befall(FakeNcclFaults faults) {
    SetFakeNcclFaults([this, faults = std::move(faults)](FakeNcclCall call, int rank) {
      ++counts_[static_cast<size_t>(call)];
      return faults ? faults(call, rank) : FakeNcclFault::kNone;
    });
  }
  // Lets a fault befall one kind of call at one rank, or at all ranks if it is negative.
  void Befall(int victim, FakeNcclCall which, FakeNcclFault fault) {
    Befall([=](FakeNcclCall call, int rank) {
      return call == which && (victim < 0 || victim == rank) ? fault : FakeNcclFault::kNone;
    });
  }
  int Count(FakeNcclCall call) const { return counts_[static_cast<size_t>(call)]; }

 private:
  std::array<std::atomic<int>, static_cast<size_t>(FakeNcclCall::kRelease) + 1> counts_ = {};
};

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_TESTING_FAKE_NCCL_CALLS_H_
