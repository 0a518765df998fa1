// One rank's NCCL communicator: joining, operations, failure and abort as a sequence of calls that never block. It has
// no clock and no thread; whoever waits is asked between two calls whether to go on.
#ifndef REKINDLE_WORKER_COMM_NCCL_SESSION_H_
#define REKINDLE_WORKER_COMM_NCCL_SESSION_H_

#include <functional>
#include <string>

#include "worker/comm/nccl_api.h"

namespace rekindle::comm {

// Thread-compatible. The first failure, or a wait that was given up, aborts NCCL's communicator: nothing of it is
// pending on the device any more, and every later call fails.
class NcclSession {
 public:
  enum class Outcome { kDone, kGivenUp, kFailed };
  // Lets a moment pass; false: give up.
  using GoOn = std::function<bool()>;

  // `api` outlives it.
  explicit NcclSession(const RekindleNcclApi& api) : api_(api) {}
  ~NcclSession() { Abort(); }
  NcclSession(const NcclSession&) = delete;

  // At most once.
  Outcome Join(int device, int world, int rank, const unsigned char* id, const GoOn& go_on);
  // Returns when the device has carried it out.
  Outcome Run(const RekindleNcclOperation& operation, const GoOn& go_on);
  void Abort();

  // Why the last call was kFailed: which call of NCCL, and what it said.
  const std::string& error() const { return error_; }

 private:
  Outcome Finish(int result, const char* what, const GoOn& go_on);
  Outcome AwaitMark(const GoOn& go_on);
  Outcome Fail(const char* what);
  Outcome GiveUp();

  const RekindleNcclApi& api_;
  RekindleNcclComm* comm_ = nullptr;
  char reason_[256] = "";
  std::string error_;
};

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_NCCL_SESSION_H_
