// A StateStore that forgets with its process: for tests.
#ifndef REKINDLE_COORDINATOR_MEMORY_STORE_H_
#define REKINDLE_COORDINATOR_MEMORY_STORE_H_

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "coordinator/state_store.h"

namespace rekindle::coordinator {

class MemoryStore : public StateStore {
 public:
  absl::StatusOr<int64_t> Commit(const Transaction& transaction) override;
  absl::StatusOr<std::optional<Entry>> Get(const std::string& key) override;
  absl::StatusOr<std::vector<Entry>> List(const std::string& prefix) override;
  absl::StatusOr<std::vector<v1::Event>> Events(int32_t after, const std::string& job, int limit) override;
  absl::StatusOr<int32_t> LastEventRevision() override;

  // Commits answer this until it is OK again.
  void FailCommits(absl::Status status);

 private:
  std::mutex mutex_;
  absl::Status failure_;
  int64_t revision_ = 0;
  int32_t last_event_ = 0;
  std::map<std::string, Entry> entries_;
  std::map<int32_t, v1::Event> events_;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_MEMORY_STORE_H_
