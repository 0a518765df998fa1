#include "worker/comm/nccl/nccl_session.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace rekindle::comm {

NcclSession::Outcome NcclSession::Join(int device, int world, int rank, const unsigned char* id, const GoOn& go_on) {
  const int result = api_.join(device, world, rank, id, &comm_, reason_, sizeof(reason_));
  return Finish(result, "joining", go_on);
}

NcclSession::Outcome NcclSession::Run(const RekindleNcclOperation& operation, const GoOn& go_on) {
  if (comm_ == nullptr) {
    error_ = "NCCL: the communicator has been aborted";
    return Outcome::kFailed;
  }
  const Outcome started = Finish(api_.start(comm_, &operation, reason_, sizeof(reason_)), "an operation", go_on);
  if (started != Outcome::kDone) return started;
  if (api_.mark(comm_, operation.stream, reason_, sizeof(reason_)) == kRekindleNcclFailed) return Fail("an event");
  return AwaitMark(go_on);
}

// Waits for an NCCL call that may be pending. `result` is what the call returned.
NcclSession::Outcome NcclSession::Finish(int result, const char* what, const GoOn& go_on) {
  while (result == kRekindleNcclPending) {
    if (!go_on()) return GiveUp();
    result = api_.poll(comm_, reason_, sizeof(reason_));
  }
  return result == kRekindleNcclDone ? Outcome::kDone : Fail(what);
}

NcclSession::Outcome NcclSession::AwaitMark(const GoOn& go_on) {
  while (true) {
    const int marked = api_.marked(comm_, reason_, sizeof(reason_));
    if (marked == kRekindleNcclDone) return Outcome::kDone;
    if (marked == kRekindleNcclFailed) return Fail("the device");
    // If a peer is gone, the device never reaches the mark at the end of the operation. Only `poll` notices that.
    if (api_.poll(comm_, reason_, sizeof(reason_)) == kRekindleNcclFailed) return Fail("an operation under way");
    if (!go_on()) return GiveUp();
  }
}

NcclSession::Outcome NcclSession::Fail(const char* what) {
  error_ = absl::StrCat("NCCL: ", what, " failed: ", reason_);
  Abort();
  return Outcome::kFailed;
}

NcclSession::Outcome NcclSession::GiveUp() {
  Abort();
  return Outcome::kGivenUp;
}

void NcclSession::Abort() {
  if (RekindleNcclComm* comm = std::exchange(comm_, nullptr)) api_.abort(comm);
}

}  // namespace rekindle::comm
