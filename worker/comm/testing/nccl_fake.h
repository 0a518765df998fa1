// Acts as NCCL without a GPU, for tests. Ranks are threads of one process, "device memory" is host memory, and each
// call can be made to fail or to stay pending for ever.
#ifndef REKINDLE_WORKER_COMM_TESTING_NCCL_FAKE_H_
#define REKINDLE_WORKER_COMM_TESTING_NCCL_FAKE_H_

#include <memory>
#include <string>

#include "worker/comm/nccl/nccl_api.h"

namespace rekindle::comm {

// Only one FakeNccl may exist at a time. The table that api() returns is valid as long as its FakeNccl. The class is
// thread-safe.
class FakeNccl {
 public:
  enum class Call { kMakeId, kJoin, kPollJoin, kStart, kPollStart, kMark, kMarked, kPollMarked };
  enum class Fault { kNone, kFail, kHang };

  FakeNccl();
  ~FakeNccl();

  const RekindleNcclApi& api() const;
  // Makes the rank's next call of the given kind, and all later ones, fail or hang. Only calls that can be pending
  // hang.
  void Befall(int rank, Call call, Fault fault);
  // made() counts the communicators that joined or began to join. aborted() counts those that were aborted.
  int made() const;
  int aborted() const;
  // Returns how often a communicator was used after its abort.
  int misused() const;
  // Returns how many pieces of operations were started.
  int started() const;

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_TESTING_NCCL_FAKE_H_
