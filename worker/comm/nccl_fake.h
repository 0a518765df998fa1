// NCCL without a GPU, for tests: ranks are threads of one process, "device memory" is host memory, and each call can be
// made to fail or to stay pending for ever.
#ifndef REKINDLE_WORKER_COMM_NCCL_FAKE_H_
#define REKINDLE_WORKER_COMM_NCCL_FAKE_H_

#include <memory>
#include <string>

#include "worker/comm/nccl_api.h"

namespace rekindle::comm {

// One at a time; its api() is valid while it lives. Thread-safe.
class FakeNccl {
 public:
  enum class Call { kMakeId, kJoin, kPollJoin, kStart, kPollStart, kMark, kMarked, kPollMarked };
  enum class Fault { kNone, kFail, kHang };

  FakeNccl();
  ~FakeNccl();

  const RekindleNcclApi& api() const;
  // The next such call of the rank, and all after it. kHang is for the calls that poll.
  void Befall(int rank, Call call, Fault fault);
  // Communicators that joined, or began to, and those that were aborted.
  int made() const;
  int aborted() const;
  // Uses of a communicator after its abort.
  int misused() const;
  // Pieces that were started.
  int started() const;

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_NCCL_FAKE_H_
