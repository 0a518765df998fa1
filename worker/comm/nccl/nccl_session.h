// Manages one rank's NCCL communicator. Joining, operations, failure and abort are sequences of calls that never block.
// The class has no clock and no thread. Between two calls it asks the waiting caller whether to continue.
#ifndef REKINDLE_WORKER_COMM_NCCL_NCCL_SESSION_H_
#define REKINDLE_WORKER_COMM_NCCL_NCCL_SESSION_H_

#include <functional>
#include <string>

#include "worker/comm/nccl/nccl_api.h"

namespace rekindle::comm {

// An NcclSession is thread-compatible. The first failure, or a wait that was given up, aborts NCCL's communicator. Then
// none of the communicator's work is pending on the device any more, and every later call fails.
class NcclSession {
 public:
  enum class Outcome { kDone, kGivenUp, kFailed };
  // Lets a moment pass between two checks of a pending call. Returns false if the session has to give up.
  using GoOn = std::function<bool()>;

  // `api` must outlive the session.
  explicit NcclSession(const RekindleNcclApi& api) : api_(api) {}
  ~NcclSession() { Abort(); }
  NcclSession(const NcclSession&) = delete;

  // Joins the NCCL communicator of the given id. REQUIRES: Join() is called at most once.
  Outcome Join(int device, int world, int rank, const unsigned char* id, const GoOn& go_on);
  // Runs the operation on its stream, and returns when the device has carried it out.
  Outcome Run(const RekindleNcclOperation& operation, const GoOn& go_on);
  void Abort();

  // Returns why the last outcome was kFailed: which call of NCCL failed, and its message.
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

#endif  // REKINDLE_WORKER_COMM_NCCL_NCCL_SESSION_H_
