// Runs what was queued on the queues of a fake device, late and interleaved by a seed.
#ifndef REKINDLE_WORKER_DEVICE_FAKE_FAKE_QUEUES_H_
#define REKINDLE_WORKER_DEVICE_FAKE_FAKE_QUEUES_H_

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <thread>

#include "absl/status/status.h"
#include "common/sync/mutex.h"
#include "worker/device/contract/operation.h"
#include "worker/device/contract/queue.h"

namespace rekindle::device {

// Nothing runs by itself: threads that wait for a mark run one item after the other, from a queue that the seed draws,
// and other calls may run a few on the way. So with one thread each seed plays the same order again. An operation that
// waits for other ranks has a thread of its own, so that it holds up nobody.
//
// The class is thread-safe, except that only one thread at a time may queue on one queue. An operation may queue more
// work. What it queues on its own queue runs at once, as a part of it.
class FakeQueues {
 public:
  using Perform = std::function<absl::Status(Queue, const Operation&)>;
  using Flag = std::shared_ptr<bool>;

  // `perform` runs an operation. It is called without a lock, at most once at a time for each queue.
  FakeQueues(uint64_t seed, Perform perform) : perform_(std::move(perform)), random_(seed) {}
  // Waits for operations that wait for other ranks.
  ~FakeQueues();

  void Add(Queue queue, Operation operation);
  // Returns a flag that is set once everything before it on its queue has run.
  Flag AddMark(Queue queue);
  // Lets the queue wait for the flag.
  void AddWait(Queue queue, Flag flag);

  bool IsSet(const Flag& flag);
  // Runs items until the flag is set. Returns the error of the device, if it has one, and CANCELLED if `go_on` returns
  // false.
  absl::Status RunUntil(const Flag& flag, const std::function<bool()>& go_on);
  // Gives up a queue. What it has not begun never runs.
  void Leave(Queue queue);
  // Runs everything that is queued. It never returns while a queue hangs that was not left, until an error ends the
  // device.
  void RunAll();
  // Runs a few items, or none, as the seed draws.
  void RunSome();

  // The items of a queue that hangs do not run. That lasts until the device has an error.
  void Hang(Queue queue);
  // Breaks the device: nothing runs any more, and calls return this error.
  void Break(const absl::Status& error);
  absl::Status error();

 private:
  // Is an operation, or else a flag to set or to wait for.
  struct Item {
    std::shared_ptr<const Operation> operation;
    Flag set;
    Flag wait;
  };
  struct State {
    std::deque<Item> items;
    bool is_running = false;
    bool hangs = false;
    bool left = false;
    // `apart` runs the last operation that waited for other ranks. Whoever sets `is_running` may use it.
    std::thread apart;
  };

  State& At(Queue queue) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return states_[static_cast<size_t>(queue)]; }
  static bool CanRun(const State& state);
  // Returns whether the calling thread is running an operation of this queue.
  bool IsWithin(Queue queue) const;
  // Runs the operation on the calling thread. An error breaks the device.
  void PerformNow(Queue queue, const Operation& operation);
  // Takes an item from a queue that the seed draws, and sets its flag. Returns false if no queue has one that can run.
  bool TakeOne(Queue* queue, Item* item);
  // Takes an item and runs its operation, if it has one. Returns false if no queue has an item that can run.
  bool RunOne();
  void RunTaken(Queue queue, const Operation& operation);

  const Perform perform_;
  common::Mutex mutex_;
  // `changed_` is notified after each item, and when the device breaks.
  common::CondVar changed_;
  std::mt19937_64 random_ ABSL_GUARDED_BY(mutex_);
  std::array<State, kQueues> states_ ABSL_GUARDED_BY(mutex_);
  absl::Status error_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace rekindle::device

#endif  // REKINDLE_WORKER_DEVICE_FAKE_FAKE_QUEUES_H_
