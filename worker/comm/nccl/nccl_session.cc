#include "worker/comm/nccl/nccl_session.h"

#include <chrono>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/sync/mutex.h"
#include "common/time/clock.h"

namespace rekindle::comm {
namespace {

constexpr size_t kReasonBytes = 256;
// Peers that end in order do so within `kFinishSeconds`.
constexpr double kFinishSeconds = 5;
constexpr auto kPause = std::chrono::milliseconds(1);

void FinishInOrder(const RekindleNcclApi& api, RekindleNcclComm* comm) {
  char reason[kReasonBytes] = "";
  const double until = common::SteadySeconds() + kFinishSeconds;
  int result = api.finish(comm, reason, sizeof(reason));
  while (result == kRekindleNcclPending && common::SteadySeconds() < until) {
    std::this_thread::sleep_for(kPause);
    result = api.poll(comm, reason, sizeof(reason));
  }
}

}  // namespace

struct NcclSession::Shared {
  explicit Shared(const RekindleNcclApi& a) : api(a) {}

  const RekindleNcclApi& api;
  common::Mutex mutex;
  common::CondVar changed;
  // `comm` is null before Join().
  RekindleNcclComm* comm ABSL_GUARDED_BY(mutex) = nullptr;
  bool ending ABSL_GUARDED_BY(mutex) = false;
  bool ended ABSL_GUARDED_BY(mutex) = false;
  // `starting` counts the threads that are starting an operation.
  int starting ABSL_GUARDED_BY(mutex) = 0;
  std::string error ABSL_GUARDED_BY(mutex);
};

NcclSession::NcclSession(const RekindleNcclApi& api) : shared_(std::make_shared<Shared>(api)) {}

NcclSession::~NcclSession() { End(Way::kAbort); }

NcclSession::Outcome NcclSession::Join(int device, int world, int rank, const unsigned char* id, const GoOn& go_on) {
  char reason[kReasonBytes] = "";
  RekindleNcclComm* comm = nullptr;
  const int result = shared_->api.join(device, world, rank, id, &comm, reason, sizeof(reason));
  {
    const common::MutexLock lock(shared_->mutex);
    shared_->comm = comm;
  }
  return result == kRekindleNcclFailed ? Fail("joining", reason) : Finish(result, "joining", go_on);
}

bool NcclSession::Start(const RekindleNcclOperation& operation) {
  RekindleNcclComm* comm = nullptr;
  {
    const common::MutexLock lock(shared_->mutex);
    if (shared_->ending || shared_->comm == nullptr) return false;
    ++shared_->starting;
    comm = shared_->comm;
  }
  char reason[kReasonBytes] = "";
  const bool is_there = shared_->api.start(comm, &operation, reason, sizeof(reason)) != kRekindleNcclFailed;
  if (!is_there) Fail("an operation", reason);
  const common::MutexLock lock(shared_->mutex);
  --shared_->starting;
  shared_->changed.NotifyAll();
  return is_there;
}

NcclSession::Outcome NcclSession::Settle(const GoOn& go_on) {
  if (!error().empty()) return Outcome::kFailed;
  return Finish(kRekindleNcclPending, "an operation", go_on);
}

// Waits for an NCCL call that may be pending. `result` is what the call returned.
NcclSession::Outcome NcclSession::Finish(int result, const char* what, const GoOn& go_on) {
  RekindleNcclComm* comm = nullptr;
  {
    const common::MutexLock lock(shared_->mutex);
    if (shared_->ending || shared_->comm == nullptr) return Outcome::kGivenUp;
    comm = shared_->comm;
  }
  char reason[kReasonBytes] = "";
  for (bool is_first = true; result == kRekindleNcclPending; is_first = false) {
    if (!is_first && !go_on()) return Outcome::kGivenUp;
    result = shared_->api.poll(comm, reason, sizeof(reason));
  }
  return result == kRekindleNcclDone ? Outcome::kDone : Fail(what, reason);
}

NcclSession::Outcome NcclSession::Fail(const char* what, const char* reason) {
  const common::MutexLock lock(shared_->mutex);
  if (shared_->error.empty()) shared_->error = absl::StrCat("NCCL: ", what, " failed: ", reason);
  return Outcome::kFailed;
}

void NcclSession::End(Way way) {
  const common::MutexLock lock(shared_->mutex);
  if (std::exchange(shared_->ending, true)) return;
  shared_->ended = shared_->comm == nullptr;
  shared_->changed.NotifyAll();
  if (shared_->ended) return;
  // The thread keeps `shared` for itself, because an end that hangs outlives the session.
  std::thread([shared = shared_, comm = shared_->comm, way] {
    if (way == Way::kInOrder) FinishInOrder(shared->api, comm);
    shared->api.abort(comm);
    common::MutexLock inner(shared->mutex);
    shared->changed.Wait(inner, [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(shared->mutex) { return shared->starting == 0; });
    shared->api.release(comm);
    shared->ended = true;
    shared->changed.NotifyAll();
  }).detach();
}

bool NcclSession::AwaitEnd(double seconds) const {
  common::MutexLock lock(shared_->mutex);
  return shared_->changed.WaitFor(lock, std::chrono::duration<double>(seconds),
                                  [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(shared_->mutex) { return shared_->ended; });
}

std::string NcclSession::error() const {
  const common::MutexLock lock(shared_->mutex);
  return shared_->error;
}

}  // namespace rekindle::comm
