#include "worker/device/exchange/nccl_exchange.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <thread>
#include <utility>

#include "common/log/log.h"
#include "common/sync/mutex.h"
#include "worker/comm/contract/work.h"
#include "worker/comm/nccl/nccl_session.h"
#include "worker/device/exchange/nccl_id.h"
#include "worker/device/exchange/nccl_piece.h"

namespace rekindle::device {
namespace {

// So many pieces are on the device's queue at once. While one is carried out, the next one is there already.
constexpr size_t kMostUnderWay = 4;
// The thread asks the device without a pause at first, because a small operation is done by then.
constexpr int kEagerLooks = 200;
constexpr auto kPause = std::chrono::microseconds(50);
// After a failure of NCCL, the rank waits so long for its communicator to find out which peer is the reason.
constexpr auto kSuspicion = std::chrono::milliseconds(200);
// NCCL may take seconds to connect its ranks.
constexpr double kJoinSeconds = 10;
// An abort takes milliseconds. One that takes longer waits for a kernel that hangs.
constexpr double kAbortSeconds = 5;

// Describes one operation.
struct Job {
  // `ready` is a mark behind all that the operation has to wait for on the compute queue.
  Mark ready;
  std::deque<NcclPiece> pieces;
  bool done = false;
  absl::Status status;
  // `work` is set instead of pieces for an operation of the host.
  comm::Work work;
  bool is_host = false;
};

// Is a piece that is on the device's queue.
struct UnderWay {
  Job* job = nullptr;
  // `waits_for` is that of the piece.
  uint64_t waits_for = 0;
  // `begun` is a mark before the piece, and `ended` one behind it.
  Mark begun, ended;
  bool is_last = false;
};

class NcclExchange final : public Exchange {
 public:
  NcclExchange(Device& device, comm::Communicator& communicator, const RekindleNcclApi& nccl, int gpu,
               std::shared_ptr<comm::NcclSession> session)
      : device_(device), communicator_(communicator), gpu_(gpu), session_(std::move(session)), id_(communicator, nccl) {
    thread_ = std::jthread([this](std::stop_token stop) { Loop(stop); });
  }
  ~NcclExchange() override {
    (void)WaitAll();
    thread_.request_stop();
    thread_.join();
  }

  Ticket AllReduce(const Range& in, const Range& out, comm::DataType type) override {
    return Begin({.kind = RekindleNcclOperation::kAllReduce, .type = type, .in = in, .out = out});
  }
  Ticket Broadcast(const Range& buffer, int root) override {
    const bool sends = communicator_.rank() == root;
    return Begin({.kind = RekindleNcclOperation::kBroadcast,
                  .peer = root,
                  .in = sends ? buffer : Range{},
                  .out = sends ? Range{} : buffer});
  }
  Ticket Send(const Range& from, int peer) override {
    return Begin({.kind = RekindleNcclOperation::kSend, .peer = peer, .in = from});
  }
  Ticket Recv(const Range& to, int peer) override {
    return Begin({.kind = RekindleNcclOperation::kRecv, .peer = peer, .out = to});
  }
  Ticket AllGather(const void* in, void* out, size_t bytes) override {
    Job job{.work = communicator_.AllGather(in, out, bytes), .is_host = true};
    const common::MutexLock lock(mutex_);
    jobs_.push_back(std::move(job));
    changed_.NotifyAll();
    return jobs_.size() - 1;
  }

  absl::Status Wait(Ticket ticket) override {
    comm::Work work;
    {
      common::MutexLock lock(mutex_);
      Job& job = jobs_[ticket];
      if (!job.is_host) {
        // An operation is done once the thread has seen that the device came to its end, so what the compute queue is
        // given from now on comes after it.
        changed_.Wait(lock, [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return job.done; });
        return job.status;
      }
      if (!std::exchange(job.done, true)) work = job.work;
    }
    return work.Wait();
  }
  absl::Status WaitAll() override {
    absl::Status first;
    size_t jobs = 0;
    {
      const common::MutexLock lock(mutex_);
      jobs = jobs_.size();
    }
    for (Ticket ticket = 0; ticket < jobs; ++ticket) first.Update(Wait(ticket));
    const common::MutexLock lock(mutex_);
    jobs_.clear();
    next_ = 0;
    return first;
  }

  comm::Communicator& communicator() override { return communicator_; }

 private:
  Ticket Begin(const NcclPiece& whole) {
    Job job{.ready = device_.Record(Queue::kCompute), .pieces = PiecesOf(whole)};
    job.done = job.pieces.empty();
    const common::MutexLock lock(mutex_);
    if (!failed_.ok()) {
      job.pieces.clear();
      job.status = failed_;
      job.done = true;
    }
    jobs_.push_back(std::move(job));
    changed_.NotifyAll();
    return jobs_.size() - 1;
  }

  // Carries out operations until the communicator or NCCL fails, or nobody needs them any more.
  void Loop(const std::stop_token& stop) {
    absl::Status status = Join(stop);
    while (status.ok() && !(stop.stop_requested() && IsIdle())) {
      status = under_way_.empty() ? AwaitWork(stop) : Advance();
      if (status.ok()) status = LaunchAll();
    }
    // As long as nobody needs NCCL, its failure fails nothing. Peers that have ended in order may be the reason.
    while (!status.ok() && communicator_.status().ok() && !stop.stop_requested() && IsIdle()) (void)AwaitWork(stop);
    if (!status.ok() && !IsIdle()) communicator_.Abort(status);
    const bool in_order = status.ok() && communicator_.status().ok();
    session_->End(in_order ? comm::NcclSession::Way::kInOrder : comm::NcclSession::Way::kAbort);
    if (!in_order && !AwaitAborted()) {
      log::Warning("an abort of NCCL does not come to its end", {{"seconds", kAbortSeconds}});
    }
    FailAll(status);
  }

  // Waits until no operation uses memory of the device any more. Returns false if that takes too long.
  bool AwaitAborted() {
    const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(kAbortSeconds);
    if (!session_->AwaitEnd(kAbortSeconds)) return false;
    const absl::Status drained =
        device_.Await(device_.Record(Queue::kExchange), [&] { return std::chrono::steady_clock::now() < until; });
    // A device that is broken runs nothing.
    return !absl::IsCancelled(drained);
  }

  // Returns whether every operation is done.
  bool IsIdle() {
    const common::MutexLock lock(mutex_);
    return std::all_of(jobs_.begin(), jobs_.end(), [](const Job& job) { return job.done || job.is_host; });
  }
  bool HasNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    while (next_ < jobs_.size() && jobs_[next_].pieces.empty()) ++next_;
    return next_ < jobs_.size();
  }
  // Waits a moment for an operation. Returns the communicator's error.
  absl::Status AwaitWork(const std::stop_token& stop) {
    {
      constexpr auto kLookAtCommunicator = std::chrono::milliseconds(5);
      common::MutexLock lock(mutex_);
      changed_.WaitFor(lock, stop, kLookAtCommunicator,
                       [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return HasNext(); });
    }
    return communicator_.status();
  }

  // Returns what the session calls between two checks of a call that is pending.
  comm::NcclSession::GoOn Patience(const std::stop_token& stop) {
    return [this, stop, looks = 0]() mutable {
      if (++looks > kEagerLooks) std::this_thread::sleep_for(kPause);
      return communicator_.status().ok() && !stop.stop_requested();
    };
  }

  // Joins the communicator of NCCL, which is the first collective between the devices.
  absl::Status Join(const std::stop_token& stop) {
    const absl::StatusOr<NcclId::Bytes> id = id_.Await();
    if (!id.ok()) return id.status();
    communicator_.device_lane().Reach(0, kJoinSeconds);
    const auto joined =
        session_->Join(gpu_, communicator_.world_size(), communicator_.rank(), id->data(), Patience(stop));
    communicator_.device_lane().Complete();
    return StatusOf(joined);
  }

  // Returns the error of the communicator if it has one, and otherwise that of NCCL.
  absl::Status StatusOf(comm::NcclSession::Outcome outcome) {
    if (outcome == comm::NcclSession::Outcome::kDone) return absl::OkStatus();
    const auto until = std::chrono::steady_clock::now() + kSuspicion;
    while (outcome == comm::NcclSession::Outcome::kFailed && communicator_.status().ok() &&
           std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(kPause);
    }
    if (absl::Status status = communicator_.status(); !status.ok()) return status;
    if (outcome == comm::NcclSession::Outcome::kGivenUp) return absl::CancelledError("the exchange has ended");
    return absl::InternalError(session_->error());
  }

  absl::Status LaunchAll() {
    while (under_way_.size() < kMostUnderWay) {
      Job* job = nullptr;
      NcclPiece piece;
      bool is_first = false;
      {
        const common::MutexLock lock(mutex_);
        if (!HasNext()) return absl::OkStatus();
        job = &jobs_[next_];
        is_first = job->ready.state != nullptr;
        piece = job->pieces.front();
        job->pieces.pop_front();
      }
      if (is_first) device_.After(Queue::kExchange, std::exchange(job->ready, {}));
      if (absl::Status status = Launch(*job, piece); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  // Puts a piece on the exchange queue of the device.
  absl::Status Launch(Job& job, const NcclPiece& piece) {
    UnderWay entry{.job = &job,
                   .waits_for = piece.waits_for(),
                   .begun = device_.Record(Queue::kExchange),
                   .is_last = job.pieces.empty()};
    device_.Run(Queue::kExchange, OperationOf(piece, session_));
    const auto settled = session_->Settle(Patience({}));
    if (settled != comm::NcclSession::Outcome::kDone) return StatusOf(settled);
    entry.ended = device_.Record(Queue::kExchange);
    under_way_.push_back(std::move(entry));
    return absl::OkStatus();
  }

  // Looks how far the device has come.
  absl::Status Advance() {
    comm::DeviceLane& lane = communicator_.device_lane();
    UnderWay& front = under_way_.front();
    if (front.begun.state != nullptr) {
      const absl::StatusOr<bool> begun = device_.Passed(front.begun);
      if (!begun.ok()) return begun.status();
      if (*begun) {
        front.begun = {};
        lane.Reach(front.waits_for);
        looks_ = 0;
      }
    }
    const absl::StatusOr<bool> ended = front.begun.state != nullptr ? false : device_.Passed(front.ended);
    if (!ended.ok()) return ended.status();
    // A failure is looked for even if the device has come to the end, because an operation that failed ends as well.
    const auto settled = session_->Settle([] { return false; });
    if (settled == comm::NcclSession::Outcome::kFailed) return StatusOf(settled);
    if (absl::Status status = communicator_.status(); !status.ok()) return status;
    if (!*ended) {
      if (++looks_ > kEagerLooks) std::this_thread::sleep_for(kPause);
      return absl::OkStatus();
    }
    lane.Complete();
    looks_ = 0;
    const UnderWay done = std::move(front);
    under_way_.pop_front();
    if (!done.is_last) return absl::OkStatus();
    const common::MutexLock lock(mutex_);
    done.job->done = true;
    changed_.NotifyAll();
    return absl::OkStatus();
  }

  void FailAll(const absl::Status& status) {
    under_way_.clear();
    const common::MutexLock lock(mutex_);
    failed_ = status.ok() ? absl::CancelledError("the exchange has ended") : status;
    for (Job& job : jobs_) {
      if (job.done || job.is_host) continue;
      job.status = failed_;
      job.done = true;
    }
    changed_.NotifyAll();
  }

  Device& device_;
  comm::Communicator& communicator_;
  const int gpu_;
  // The operations on the device's queue share the session.
  const std::shared_ptr<comm::NcclSession> session_;
  const NcclId id_;
  // Only the thread uses `under_way_`, which has the pieces on the device's queue, and `looks_`, which counts the looks
  // at its first one without a change.
  std::deque<UnderWay> under_way_;
  int looks_ = 0;
  common::Mutex mutex_;
  common::CondVar changed_;
  // `jobs_` has all operations since the last WaitAll(), in the order of the tickets. The thread alone uses the marks
  // and pieces of one that is not done.
  std::deque<Job> jobs_ ABSL_GUARDED_BY(mutex_);
  // `next_` is the first operation with a piece that is not on the device's queue.
  size_t next_ ABSL_GUARDED_BY(mutex_) = 0;
  // `failed_` is set when the thread carries out nothing any more.
  absl::Status failed_ ABSL_GUARDED_BY(mutex_);
  std::jthread thread_;
};

}  // namespace

std::unique_ptr<Exchange> MakeNcclExchange(Device& device, comm::Communicator& communicator,
                                           const RekindleNcclApi& nccl, int gpu,
                                           std::shared_ptr<comm::NcclSession> session) {
  return std::make_unique<NcclExchange>(device, communicator, nccl, gpu, std::move(session));
}

}  // namespace rekindle::device
