// Manages one rank's NCCL communicator. Joining, operations and failure are sequences of calls that never block, and an
// abort that hangs holds nobody up.
#ifndef REKINDLE_WORKER_COMM_NCCL_NCCL_SESSION_H_
#define REKINDLE_WORKER_COMM_NCCL_NCCL_SESSION_H_

#include <functional>
#include <memory>
#include <string>

#include "worker/comm/nccl/nccl_api.h"

namespace rekindle::comm {

// One thread uses an NcclSession, except that any thread may call Start(). The session has no clock. Between two calls
// it asks the waiting caller whether to continue.
class NcclSession {
 public:
  enum class Outcome { kDone, kGivenUp, kFailed };
  // Lets a moment pass between two checks of a pending call. Returns false if the session has to give up.
  using GoOn = std::function<bool()>;

  // `api` must outlive the session, and the process if an abort hangs.
  explicit NcclSession(const RekindleNcclApi& api);
  // Aborts without waiting, if the session was not ended before.
  ~NcclSession();
  NcclSession(const NcclSession&) = delete;
  NcclSession& operator=(const NcclSession&) = delete;

  // Joins the NCCL communicator of the given id. REQUIRES: Join() is called at most once.
  Outcome Join(int device, int world, int rank, const unsigned char* id, const GoOn& go_on);
  // Puts the operation on its stream. Returns false if it is not there, because NCCL failed or was aborted.
  bool Start(const RekindleNcclOperation& operation);
  // Waits until all that was started is on its stream, and finds out whether NCCL has failed since.
  Outcome Settle(const GoOn& go_on);

  // Begins to end NCCL's communicator, and with kAbort all of its work on the device. kInOrder lets peers have what
  // they still need of this rank, for some seconds, and requires that all operations of this rank are done. Only the
  // first call has an effect.
  enum class Way { kAbort, kInOrder };
  void End(Way way);
  // Waits until the communicator has ended. Returns false if that takes more than `seconds`.
  bool AwaitEnd(double seconds) const;

  // Returns why the last outcome was kFailed: which call of NCCL failed, and its message.
  std::string error() const;

 private:
  struct Shared;
  Outcome Finish(int result, const char* what, const GoOn& go_on);
  Outcome Fail(const char* what, const char* reason);

  // `shared_` is shared with the thread of an abort, which may outlive the session.
  const std::shared_ptr<Shared> shared_;
};

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_NCCL_NCCL_SESSION_H_
