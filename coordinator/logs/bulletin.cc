#include "coordinator/logs/bulletin.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace rekindle::coordinator {

void Bulletin::Await(uint64_t id, const Wait& wait, std::function<void()> wake) {
  waiters_[id] = {wait, std::move(wake)};
}

void Bulletin::Wake(uint64_t id) {
  const auto found = waiters_.find(id);
  if (found == waiters_.end()) return;
  const std::function<void()> wake = std::move(found->second.wake);
  waiters_.erase(found);
  wake();
}

void Bulletin::Forget(const std::string& topic) {
  versions_.erase(topic);
  std::vector<uint64_t> ids;
  for (const auto& [id, waiter] : waiters_) {
    if (waiter.wait.topic == topic) ids.push_back(id);
  }
  for (const uint64_t id : ids) Wake(id);
}

void Bulletin::WakeAll() {
  std::vector<uint64_t> ids;
  for (const auto& [id, waiter] : waiters_) ids.push_back(id);
  for (const uint64_t id : ids) Wake(id);
}

void Bulletin::WakeDue(double now) {
  std::vector<uint64_t> due;
  for (const auto& [id, waiter] : waiters_) {
    if (DueAt(waiter.wait) <= now) due.push_back(id);
  }
  for (const uint64_t id : due) Wake(id);
}

double Bulletin::NextDue() const {
  double next = kForever;
  for (const auto& [id, waiter] : waiters_) next = std::min(next, DueAt(waiter.wait));
  return next;
}

}  // namespace rekindle::coordinator
