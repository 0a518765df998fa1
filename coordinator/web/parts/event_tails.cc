#include "coordinator/web/parts/event_tails.h"

#include <algorithm>

#include "common/sync/mutex.h"

namespace rekindle::coordinator::web {
namespace {

// The first search for the newest events goes back `kFirstLook` revisions from the newest.
constexpr int32_t kFirstLook = 1000;
// If a search finds too few events, the next one goes back `kFurther` times as far.
constexpr int32_t kFurther = 4;

}  // namespace

std::shared_ptr<EventTails::Tail> EventTails::Find(const std::string& job) {
  const common::MutexLock lock(mutex_);
  const auto found =
      std::find_if(tails_.begin(), tails_.end(), [&](const std::shared_ptr<Tail>& tail) { return tail->job == job; });
  if (found != tails_.end()) {
    tails_.splice(tails_.begin(), tails_, found);
  } else {
    tails_.push_front(std::make_shared<Tail>());
    tails_.front()->job = job;
    if (tails_.size() > kTails) tails_.pop_back();
  }
  return tails_.front();
}

absl::StatusOr<std::vector<v1::Event>> EventTails::Newest(const std::string& job, int32_t after) {
  const std::shared_ptr<Tail> tail = Find(job);
  const common::MutexLock lock(tail->mutex);
  if (absl::Status read = tail->read_to < 0 ? Begin(*tail) : ReadOn(*tail); !read.ok()) return read;
  std::vector<v1::Event> newest;
  for (const v1::Event& event : tail->events) {
    if (event.revision() > after) newest.push_back(event);
  }
  return newest;
}

// Finds a job's newest events. They may be far apart, and can only be read forwards. So each search begins further back
// than the one before.
absl::Status EventTails::Begin(Tail& tail) {
  const absl::StatusOr<int32_t> last = source_->LastEvent();
  if (!last.ok()) return last.status();
  for (int64_t back = kFirstLook;; back *= kFurther) {
    tail.events.clear();
    tail.read_to = static_cast<int32_t>(std::max<int64_t>(0, *last - back));
    const bool all = tail.read_to == 0;
    if (absl::Status read = ReadOn(tail); !read.ok()) {
      tail.read_to = -1;
      return read;
    }
    if (all || tail.events.size() >= kEvents) return absl::OkStatus();
  }
}

absl::Status EventTails::ReadOn(Tail& tail) {
  for (;;) {
    absl::StatusOr<std::vector<v1::Event>> events = source_->Events(tail.read_to, tail.job, kAtOnce);
    if (!events.ok()) return events.status();
    for (v1::Event& event : *events) {
      tail.read_to = event.revision();
      tail.events.push_back(std::move(event));
      if (tail.events.size() > kEvents) tail.events.pop_front();
    }
    if (events->size() < static_cast<size_t>(kAtOnce)) return absl::OkStatus();
  }
}

}  // namespace rekindle::coordinator::web
