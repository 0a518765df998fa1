// Keeps a coordinator's state in memory only, for tests.
#ifndef REKINDLE_COORDINATOR_STORE_TESTING_MEMORY_STORE_H_
#define REKINDLE_COORDINATOR_STORE_TESTING_MEMORY_STORE_H_

#include <map>
#include <string>
#include <vector>

#include "common/sync/mutex.h"
#include "coordinator/store/state_store.h"

namespace rekindle::coordinator {

class MemoryStore : public StateStore {
 public:
  absl::StatusOr<int64_t> Commit(const Transaction& transaction) override;
  absl::StatusOr<std::optional<Entry>> Get(const std::string& key) override;
  absl::StatusOr<std::vector<Entry>> List(const std::string& prefix) override;
  absl::StatusOr<std::vector<v1::Event>> Events(int32_t after, const std::string& job, int limit) override;
  absl::StatusOr<int32_t> LastEventRevision() override;

  // Makes commits return `status` until FailCommits is called with OK.
  void FailCommits(absl::Status status);

 private:
  common::Mutex mutex_;
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);
  int64_t revision_ ABSL_GUARDED_BY(mutex_) = 0;
  int32_t last_event_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<std::string, Entry> entries_ ABSL_GUARDED_BY(mutex_);
  std::map<int32_t, v1::Event> events_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_STORE_TESTING_MEMORY_STORE_H_
