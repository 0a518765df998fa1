#include "worker/device/fake/fake_queues.h"

#include <chrono>
#include <utility>
#include <vector>

#include "common/check/check.h"

namespace rekindle::device {
namespace {

// A thread that waits looks this often whether it may still wait, because nobody tells it.
constexpr auto kLookAgain = std::chrono::milliseconds(1);

// Names the operation that a thread is running, by its device and queue.
struct Within {
  const FakeQueues* queues = nullptr;
  Queue queue = Queue::kCompute;
};
thread_local Within within;

}  // namespace

FakeQueues::~FakeQueues() {
  for (State& state : states_) {
    if (state.apart.joinable()) state.apart.join();
  }
}

bool FakeQueues::IsWithin(Queue queue) const { return within.queues == this && within.queue == queue; }

void FakeQueues::PerformNow(Queue queue, const Operation& operation) {
  const Within outer = std::exchange(within, {this, queue});
  const absl::Status status = perform_(queue, operation);
  within = outer;
  if (!status.ok()) Break(status);
}

void FakeQueues::Add(Queue queue, Operation operation) {
  if (IsWithin(queue)) {
    if (error().ok()) PerformNow(queue, operation);
    return;
  }
  const common::MutexLock lock(mutex_);
  common::Check(!At(queue).left, "nobody uses a queue that was left");
  At(queue).items.push_back({.operation = std::make_shared<const Operation>(std::move(operation))});
  changed_.NotifyAll();
}

FakeQueues::Flag FakeQueues::AddMark(Queue queue) {
  auto flag = std::make_shared<bool>(IsWithin(queue));
  const common::MutexLock lock(mutex_);
  if (!*flag) At(queue).items.push_back({.set = flag});
  changed_.NotifyAll();
  return flag;
}

void FakeQueues::AddWait(Queue queue, Flag flag) {
  if (IsWithin(queue)) {
    // An error ends this wait. The device keeps the error, so the next call of its user gets it.
    (void)RunUntil(flag, nullptr);
    return;
  }
  const common::MutexLock lock(mutex_);
  At(queue).items.push_back({.wait = std::move(flag)});
  changed_.NotifyAll();
}

bool FakeQueues::CanRun(const State& state) {
  if (state.items.empty() || state.is_running || state.hangs) return false;
  return state.items.front().wait == nullptr || *state.items.front().wait;
}

bool FakeQueues::TakeOne(Queue* queue, Item* item) {
  const common::MutexLock lock(mutex_);
  std::vector<size_t> able;
  for (size_t i = 0; i < kQueues; ++i) {
    if (CanRun(states_[i])) able.push_back(i);
  }
  if (able.empty() || !error_.ok()) return false;
  *queue = static_cast<Queue>(able[random_() % able.size()]);
  State& state = At(*queue);
  *item = std::move(state.items.front());
  state.items.pop_front();
  if (item->set != nullptr) *item->set = true;
  state.is_running = item->operation != nullptr;
  changed_.NotifyAll();
  return true;
}

bool FakeQueues::RunOne() {
  Queue queue = Queue::kCompute;
  Item item;
  if (!TakeOne(&queue, &item)) return false;
  if (item.operation == nullptr) return true;
  if (!item.operation->awaits_others) {
    RunTaken(queue, *item.operation);
    return true;
  }
  std::thread before;
  {
    const common::MutexLock lock(mutex_);
    before = std::move(At(queue).apart);
  }
  if (before.joinable()) before.join();
  const common::MutexLock lock(mutex_);
  At(queue).apart = std::thread([this, queue, operation = item.operation] { RunTaken(queue, *operation); });
  return true;
}

// Runs an operation that was taken from its queue.
void FakeQueues::RunTaken(Queue queue, const Operation& operation) {
  PerformNow(queue, operation);
  const common::MutexLock lock(mutex_);
  At(queue).is_running = false;
  changed_.NotifyAll();
}

bool FakeQueues::IsSet(const Flag& flag) {
  const common::MutexLock lock(mutex_);
  return *flag;
}

absl::Status FakeQueues::RunUntil(const Flag& flag, const std::function<bool()>& go_on) {
  while (error().ok() && !IsSet(flag)) {
    if (RunOne()) continue;
    {
      common::MutexLock lock(mutex_);
      changed_.WaitFor(lock, kLookAgain, [] { return false; });
    }
    if (go_on != nullptr && !go_on()) return absl::CancelledError("the wait for the device was ended");
  }
  return error();
}

void FakeQueues::Leave(Queue queue) {
  const common::MutexLock lock(mutex_);
  At(queue).left = true;
  At(queue).items.clear();
}

void FakeQueues::RunAll() {
  for (size_t queue = 0; queue < kQueues; ++queue) {
    {
      const common::MutexLock lock(mutex_);
      if (states_[queue].left) continue;
    }
    // An error empties the queues, as far as anybody can tell.
    (void)RunUntil(AddMark(static_cast<Queue>(queue)), nullptr);
  }
}

void FakeQueues::RunSome() {
  constexpr uint64_t kMost = 3;
  uint64_t left = 0;
  {
    const common::MutexLock lock(mutex_);
    left = random_() % kMost;
  }
  while (left > 0 && RunOne()) --left;
}

void FakeQueues::Hang(Queue queue) {
  const common::MutexLock lock(mutex_);
  At(queue).hangs = true;
}

void FakeQueues::Break(const absl::Status& error) {
  const common::MutexLock lock(mutex_);
  error_.Update(error);
  changed_.NotifyAll();
}

absl::Status FakeQueues::error() {
  const common::MutexLock lock(mutex_);
  return error_;
}

}  // namespace rekindle::device
