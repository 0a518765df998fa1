#include "worker/device/exchange/staged_exchange.h"

#include <deque>
#include <functional>
#include <thread>
#include <utility>

#include "common/sync/mutex.h"
#include "worker/comm/contract/work.h"
#include "worker/device/exchange/pieces.h"
#include "worker/device/exchange/tickets.h"

namespace rekindle::device {
namespace {

// Describes an operation that is not over.
struct Job {
  Exchange::Ticket ticket = 0;
  // `ready` is a mark behind all that the operation has to wait for on the compute queue.
  Mark ready;
  std::function<absl::Status(Job&)> run;
  // `written` is a mark behind what the operation has written to the device so far.
  Mark written;
};

// StagedExchange runs its operations one after the other on a thread.
class StagedExchange final : public Exchange {
 public:
  StagedExchange(Device& device, comm::Communicator& communicator, PinnedMemory& staging)
      : device_(device),
        communicator_(communicator),
        staging_(staging),
        tickets_(device),
        thread_([this](std::stop_token stop) { Loop(stop); }) {}
  ~StagedExchange() override { (void)WaitAll(); }

  Ticket AllReduce(const Range& in, const Range& out, comm::DataType type) override {
    return Begin([this, in, out, type](Job& job) {
      return Pieces(in.bytes, kMostReducedBytes, [&](int64_t at, int64_t bytes) {
        if (absl::Status status = Fetch(in.Part(at, bytes)); !status.ok()) return status;
        std::byte* const here = ForBoth(bytes);
        const comm::Work work = communicator_.AllReduce(here, here, static_cast<size_t>(bytes) / comm::SizeOf(type),
                                                        type, comm::ReduceOp::kSum);
        return Put(work, out.Part(at, bytes), job);
      });
    });
  }
  Ticket Broadcast(const Range& buffer, int root) override {
    return Begin([this, buffer, root](Job& job) {
      return Pieces(buffer.bytes, kMostMovedBytes, [&](int64_t at, int64_t bytes) {
        const Range part = buffer.Part(at, bytes);
        const bool sends = communicator_.rank() == root;
        if (absl::Status status = sends ? Fetch(part) : AwaitStaging(); !status.ok()) return status;
        const comm::Work work = communicator_.Broadcast(ForBoth(bytes), static_cast<size_t>(bytes), root);
        return sends ? work.Wait() : Put(work, part, job);
      });
    });
  }
  Ticket Send(const Range& from, int peer) override {
    return Begin([this, from, peer](Job&) {
      return Pieces(from.bytes, kMostMovedBytes, [&](int64_t at, int64_t bytes) {
        if (absl::Status status = Fetch(from.Part(at, bytes)); !status.ok()) return status;
        return communicator_.Send(staging_.ForReading(0, bytes).data(), static_cast<size_t>(bytes), peer).Wait();
      });
    });
  }
  Ticket Recv(const Range& to, int peer) override {
    return Begin([this, to, peer](Job& job) {
      return Pieces(to.bytes, kMostMovedBytes, [&](int64_t at, int64_t bytes) {
        if (absl::Status status = AwaitStaging(); !status.ok()) return status;
        const comm::Work work =
            communicator_.Recv(staging_.ForWriting(0, bytes).data(), static_cast<size_t>(bytes), peer);
        return Put(work, to.Part(at, bytes), job);
      });
    });
  }
  Ticket AllGather(const void* in, void* out, size_t bytes) override {
    return Begin([this, in, out, bytes](Job&) { return communicator_.AllGather(in, out, bytes).Wait(); });
  }

  absl::Status Wait(Ticket ticket) override { return tickets_.Wait(ticket); }
  absl::Status WaitAll() override { return tickets_.WaitAll(); }

  comm::Communicator& communicator() override { return communicator_; }
  Transport transport() const override { return Transport::kHost; }

 private:
  Ticket Begin(std::function<absl::Status(Job&)> run) {
    const Ticket ticket = tickets_.Begin();
    Job job{.ticket = ticket, .ready = device_.Record(Queue::kCompute), .run = std::move(run)};
    const common::MutexLock lock(mutex_);
    jobs_.push_back(std::move(job));
    changed_.NotifyAll();
    return ticket;
  }

  void Loop(std::stop_token stop) {
    common::MutexLock lock(mutex_);
    while (changed_.Wait(lock, stop, [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !jobs_.empty(); })) {
      Job job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.Unlock();
      absl::Status status = communicator_.status();
      if (status.ok()) {
        device_.After(Queue::kExchange, job.ready);
        status = job.run(job);
      }
      if (!status.ok()) communicator_.Abort(status);
      tickets_.End(job.ticket, std::move(status), std::move(job.written));
      lock.Lock();
    }
  }

  template <typename Piece>
  static absl::Status Pieces(int64_t bytes, int64_t most, const Piece& piece) {
    absl::Status status;
    ForEachPiece(bytes, most, [&](int64_t at, int64_t count) {
      if (status.ok()) status = piece(at, count);
    });
    return status;
  }

  // Copies memory of the device to the staging memory, and waits until it is there.
  absl::Status Fetch(const Range& from) {
    device_.Run(Queue::kExchange, Copy(from, staging_.Part(0, from.bytes)));
    return device_.Await(device_.Record(Queue::kExchange), [this] { return communicator_.status().ok(); });
  }
  // Waits until the device has read the piece before from the staging memory.
  absl::Status AwaitStaging() {
    return device_.Await(device_.Record(Queue::kExchange), [this] { return communicator_.status().ok(); });
  }
  // Returns the staging memory for the communicator, which reads and writes there.
  std::byte* ForBoth(int64_t bytes) { return staging_.ForWriting(0, bytes).data(); }
  // Waits until the communicator has written the staging memory, and queues its copy to the device.
  absl::Status Put(const comm::Work& work, const Range& to, Job& job) {
    if (absl::Status status = work.Wait(); !status.ok()) return status;
    device_.Run(Queue::kExchange, Copy(staging_.Part(0, to.bytes), to));
    job.written = device_.Record(Queue::kExchange);
    return absl::OkStatus();
  }

  Device& device_;
  comm::Communicator& communicator_;
  PinnedMemory& staging_;
  Tickets tickets_;
  common::Mutex mutex_;
  common::CondVar changed_;
  // `jobs_` has the operations that the thread has not begun.
  std::deque<Job> jobs_ ABSL_GUARDED_BY(mutex_);
  std::jthread thread_;
};

}  // namespace

std::unique_ptr<Exchange> MakeStagedExchange(Device& device, comm::Communicator& communicator, PinnedMemory& staging) {
  return std::make_unique<StagedExchange>(device, communicator, staging);
}

}  // namespace rekindle::device
