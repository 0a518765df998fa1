#include "worker/device/exchange/nccl_exchange.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <iterator>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/log/log.h"
#include "common/sync/mutex.h"
#include "common/time/clock.h"
#include "worker/comm/nccl/nccl_session.h"
#include "worker/device/exchange/nccl_id.h"
#include "worker/device/exchange/nccl_piece.h"
#include "worker/device/exchange/tickets.h"

namespace rekindle::device {
namespace {

// The thread asks the device without a pause at first, because a small operation is done by then.
constexpr int kEagerLooks = 200;
constexpr auto kPause = std::chrono::microseconds(50);
// After a failure of NCCL, the rank waits so long for its communicator to find out which peer is the reason.
constexpr double kSuspicionSeconds = 0.2;
// NCCL may take seconds to connect its ranks.
constexpr double kJoinSeconds = 10;

// Describes an operation that is not over.
struct Job {
  Exchange::Ticket ticket = 0;
  // `ready` is a mark behind all that the operation has to wait for on the compute queue.
  Mark ready;
  // `pieces` has the pieces that are not on the device's queue yet.
  std::deque<NcclPiece> pieces;
  // `written` is a mark behind what the operation has written so far.
  Mark written;
};

// Is a piece that is on the device's queue.
struct UnderWay {
  NcclPiece piece;
  // NCCL writes to `slot`. It is null if this rank receives nothing.
  Landing::Slot* slot = nullptr;
  // `begun` is a mark before the piece, and `ended` one behind it.
  Mark begun, ended;
  bool is_last = false;
};

class NcclExchange final : public Exchange {
 public:
  NcclExchange(Device& device, comm::Communicator& communicator, const NcclParts& nccl, NcclState& state)
      : device_(device),
        communicator_(communicator),
        gpu_(nccl.gpu),
        launch_seconds_(nccl.launch_seconds),
        state_(state),
        session_(state.sessions.back()),
        id_(communicator, *nccl.api),
        tickets_(device) {
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
    return tickets_.Begin({communicator_.AllGather(in, out, bytes)});
  }

  // An operation is over once the thread has seen that the device came to its end.
  absl::Status Wait(Ticket ticket) override { return tickets_.Wait(ticket); }
  absl::Status WaitAll() override { return tickets_.WaitAll(); }

  comm::Communicator& communicator() override { return communicator_; }
  Transport transport() const override { return Transport::kNccl; }

 private:
  Ticket Begin(const NcclPiece& whole) {
    Job job{.ticket = tickets_.Begin(), .ready = device_.Record(Queue::kCompute), .pieces = PiecesOf(whole)};
    const Ticket ticket = job.ticket;
    if (job.pieces.empty()) {
      tickets_.End(ticket, absl::OkStatus(), {});
      return ticket;
    }
    const common::MutexLock lock(mutex_);
    begun_.push_back(std::move(job));
    changed_.NotifyAll();
    return ticket;
  }

  // Carries out operations until the communicator or NCCL fails, or nobody needs them any more.
  void Loop(const std::stop_token& stop) {
    absl::Status status = Join(stop);
    while (status.ok() && !(stop.stop_requested() && tickets_.AllEnded())) {
      status = jobs_.empty() ? AwaitWork(stop) : Advance();
      if (status.ok()) status = LaunchAll();
    }
    // As long as nobody needs NCCL, its failure fails nothing. Peers that have ended in order may be the reason.
    const auto is_needed = [&] { return stop.stop_requested() || !tickets_.AllEnded(); };
    while (!status.ok() && communicator_.status().ok() && !is_needed()) (void)AwaitWork(stop);
    if (!status.ok() && !tickets_.AllEnded()) communicator_.Abort(status);
    const bool in_order = status.ok() && communicator_.status().ok();
    session_->End(in_order ? comm::NcclSession::Way::kInOrder : comm::NcclSession::Way::kAbort);
    if (!in_order && !AwaitAborted()) LeaveNccl();
    for (Job& job : jobs_) tickets_.End(job.ticket, status, std::move(job.written));
    tickets_.EndAll(status.ok() ? absl::CancelledError("the exchange has ended") : status);
  }

  // Waits until no operation of NCCL uses memory of the device any more. Returns false if that takes too long.
  bool AwaitAborted() {
    const double until = common::SteadySeconds() + kNcclEndSeconds;
    if (!session_->AwaitEnd(kNcclEndSeconds)) return false;
    const absl::Status drained =
        device_.Await(device_.Record(Queue::kNccl), [&] { return common::SteadySeconds() < until; });
    // A device that is broken runs nothing.
    return !absl::IsCancelled(drained);
  }

  // Gives NCCL up for the life of the process, and leaves the queue to what hangs there.
  void LeaveNccl() {
    log::Error("NCCL does not come to its end, so this process does not use it any more",
               {{"seconds", kNcclEndSeconds}});
    device_.Leave(Queue::kNccl);
    state_.is_left = true;
  }

  // Waits a moment for an operation. Returns the communicator's error.
  absl::Status AwaitWork(const std::stop_token& stop) {
    constexpr auto kLookAtCommunicator = std::chrono::milliseconds(5);
    {
      common::MutexLock lock(mutex_);
      changed_.WaitFor(lock, stop, kLookAtCommunicator,
                       [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !begun_.empty(); });
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
    const double until = common::SteadySeconds() + kSuspicionSeconds;
    while (outcome == comm::NcclSession::Outcome::kFailed && communicator_.status().ok() &&
           common::SteadySeconds() < until) {
      std::this_thread::sleep_for(kPause);
    }
    if (absl::Status status = communicator_.status(); !status.ok()) return status;
    if (outcome == comm::NcclSession::Outcome::kGivenUp) return absl::CancelledError("the exchange has ended");
    return absl::InternalError(session_->error());
  }

  absl::Status LaunchAll() {
    {
      const common::MutexLock lock(mutex_);
      std::move(begun_.begin(), begun_.end(), std::back_inserter(jobs_));
      begun_.clear();
    }
    for (Job& job : jobs_) {
      while (!job.pieces.empty() && under_way_.size() < Landing::kSlots) {
        if (job.ready.state != nullptr) device_.After(Queue::kNccl, std::exchange(job.ready, {}));
        if (absl::Status status = Launch(job); !status.ok()) return status;
      }
    }
    return absl::OkStatus();
  }

  // Puts the next piece of an operation on NCCL's queue.
  absl::Status Launch(Job& job) {
    UnderWay entry{.piece = job.pieces.front()};
    job.pieces.pop_front();
    entry.is_last = job.pieces.empty();
    NcclPiece landing = entry.piece;
    if (landing.out.block != nullptr) {
      entry.slot = &state_.landing.Next();
      landing.out = entry.slot->memory.Part(0, landing.out.bytes);
      if (entry.slot->copied.state != nullptr) device_.After(Queue::kNccl, entry.slot->copied);
    }
    entry.begun = device_.Record(Queue::kNccl);
    device_.Run(Queue::kNccl, OperationOf(landing, session_));
    if (absl::Status status = AwaitLaunched(); !status.ok()) return status;
    entry.ended = device_.Record(Queue::kNccl);
    under_way_.push_back(std::move(entry));
    return absl::OkStatus();
  }

  // Waits until NCCL has put an operation on its queue. The lane does not watch that, because the device has not come
  // to the operation yet.
  absl::Status AwaitLaunched() {
    const double until = common::SteadySeconds() + launch_seconds_;
    const auto settled = session_->Settle(
        [until, go_on = Patience({})]() mutable { return go_on() && common::SteadySeconds() < until; });
    if (settled == comm::NcclSession::Outcome::kDone) return absl::OkStatus();
    if (settled == comm::NcclSession::Outcome::kGivenUp && communicator_.status().ok()) {
      return absl::DeadlineExceededError(
          absl::StrCat("NCCL did not begin an operation within ", launch_seconds_, " s"));
    }
    return StatusOf(settled);
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
        lane.Reach(front.piece.waits_for());
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
    Arrived(front);
    under_way_.pop_front();
    return absl::OkStatus();
  }

  // Copies what a piece has brought to where it belongs, and ends the operation behind its last piece. The host has
  // seen that the device came to the end of the piece, so the copy comes after it.
  void Arrived(const UnderWay& done) {
    Job& job = jobs_.front();
    if (done.slot != nullptr) {
      device_.Run(Queue::kExchange, Copy(done.slot->memory.Part(0, done.piece.out.bytes), done.piece.out));
      done.slot->copied = job.written = device_.Record(Queue::kExchange);
    }
    if (!done.is_last) return;
    tickets_.End(job.ticket, absl::OkStatus(), std::move(job.written));
    jobs_.pop_front();
  }

  Device& device_;
  comm::Communicator& communicator_;
  const int gpu_;
  const double launch_seconds_;
  NcclState& state_;
  // The operations on the device's queue share the session.
  const std::shared_ptr<comm::NcclSession> session_;
  const NcclId id_;
  Tickets tickets_;
  // Only the thread uses `jobs_`, which has the operations that are not over, `under_way_`, which has their pieces on
  // the device's queue, and `looks_`, which counts the looks at the first of these without a change.
  std::deque<Job> jobs_;
  std::deque<UnderWay> under_way_;
  int looks_ = 0;
  common::Mutex mutex_;
  common::CondVar changed_;
  // `begun_` has the operations that the thread does not know yet.
  std::deque<Job> begun_ ABSL_GUARDED_BY(mutex_);
  std::jthread thread_;
};

}  // namespace

std::unique_ptr<Exchange> MakeNcclExchange(Device& device, comm::Communicator& communicator, const NcclParts& nccl,
                                           NcclState& state) {
  return std::make_unique<NcclExchange>(device, communicator, nccl, state);
}

}  // namespace rekindle::device
