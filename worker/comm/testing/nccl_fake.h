// Acts as NCCL without a GPU, for tests. Ranks are threads of one process, "device memory" is host memory, and each
// call can be made to fail or to stay pending for ever.
#ifndef REKINDLE_WORKER_COMM_TESTING_NCCL_FAKE_H_
#define REKINDLE_WORKER_COMM_TESTING_NCCL_FAKE_H_

#include <memory>
#include <string>

#include "worker/comm/nccl/nccl_api.h"

namespace rekindle::comm {

// Only one FakeNccl may exist at a time. Its api() is valid while it lives. The class is thread-safe.
class FakeNccl {
 public:
  enum class Call { kMakeId, kJoin, kPollJoin, kStart, kPollStart, kMark, kMarked, kPollMarked };
  enum class Fault { kNone, kFail, kHang };

  FakeNccl();
  ~FakeNccl();

  const RekindleNcclApi& api() const;
  // Makes the rank's next call of that kind, and all after it, fail or hang. kHang is for the calls that poll.
  void Befall(int rank, Call call, Fault fault);
  // `made` counts the communicators that joined or began to. `aborted` counts those that were aborted.
  int made() const;
  int aborted() const;
  // Returns how often a communicator was used after its abort.
  int misused() const;
  // Returns how many pieces were started.
  int started() const;

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_TESTING_NCCL_FAKE_H_
