#include "coordinator/store/testing/memory_store.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/sync/mutex.h"

namespace rekindle::coordinator {

absl::StatusOr<int64_t> MemoryStore::Commit(const Transaction& transaction) {
  const common::MutexLock lock(mutex_);
  if (!failure_.ok()) return failure_;
  for (const Write& write : transaction.writes) {
    const auto found = entries_.find(write.key);
    const int64_t revision = found == entries_.end() ? 0 : found->second.revision;
    if (write.if_revision && *write.if_revision != revision) {
      return absl::AbortedError(absl::StrCat(write.key, " has revision ", revision, ", expected ", *write.if_revision));
    }
  }
  int32_t last = last_event_;
  for (const v1::Event& event : transaction.events) {
    if (event.revision() <= last) return absl::AbortedError(absl::StrCat("event ", event.revision(), " is not new"));
    last = event.revision();
  }
  ++revision_;
  for (const Write& write : transaction.writes) {
    if (write.value) {
      entries_[write.key] = {write.key, *write.value, revision_};
    } else {
      entries_.erase(write.key);
    }
  }
  for (const v1::Event& event : transaction.events) events_[event.revision()] = event;
  last_event_ = last;
  while (events_.size() > kKeptEvents) events_.erase(events_.begin());
  return revision_;
}

absl::StatusOr<std::optional<Entry>> MemoryStore::Get(const std::string& key) {
  const common::MutexLock lock(mutex_);
  const auto found = entries_.find(key);
  return found == entries_.end() ? std::nullopt : std::optional<Entry>(found->second);
}

absl::StatusOr<std::vector<Entry>> MemoryStore::List(const std::string& prefix) {
  const common::MutexLock lock(mutex_);
  std::vector<Entry> found;
  for (auto it = entries_.lower_bound(prefix); it != entries_.end() && absl::StartsWith(it->first, prefix); ++it) {
    found.push_back(it->second);
  }
  return found;
}

absl::StatusOr<std::vector<v1::Event>> MemoryStore::Events(int32_t after, const std::string& job, int limit) {
  const common::MutexLock lock(mutex_);
  std::vector<v1::Event> found;
  for (auto it = events_.upper_bound(after); it != events_.end() && static_cast<int>(found.size()) < limit; ++it) {
    if (job.empty() || it->second.job() == job) found.push_back(it->second);
  }
  return found;
}

absl::StatusOr<int32_t> MemoryStore::LastEventRevision() {
  const common::MutexLock lock(mutex_);
  return last_event_;
}

void MemoryStore::FailCommits(absl::Status status) {
  const common::MutexLock lock(mutex_);
  failure_ = std::move(status);
}

}  // namespace rekindle::coordinator
