// Wraps a StateStore. If a commit finds no space, the wrapper releases the disk reserve and tries again.
#ifndef REKINDLE_COORDINATOR_STORE_RESERVED_STORE_H_
#define REKINDLE_COORDINATOR_STORE_RESERVED_STORE_H_

#include <optional>
#include <string>
#include <vector>

#include "coordinator/store/disk_reserve.h"
#include "coordinator/store/state_store.h"

namespace rekindle::coordinator {

// The caller keeps the ownership of `store` and `reserve`, which must outlive the ReservedStore.
class ReservedStore final : public StateStore {
 public:
  ReservedStore(StateStore* store, DiskReserve* reserve) : store_(store), reserve_(reserve) {}

  absl::StatusOr<int64_t> Commit(const Transaction& transaction) override {
    absl::StatusOr<int64_t> revision = store_->Commit(transaction);
    if (absl::IsResourceExhausted(revision.status()) && reserve_->Release()) revision = store_->Commit(transaction);
    return revision;
  }
  absl::StatusOr<std::optional<Entry>> Get(const std::string& key) override { return store_->Get(key); }
  absl::StatusOr<std::vector<Entry>> List(const std::string& prefix) override { return store_->List(prefix); }
  absl::StatusOr<std::vector<v1::Event>> Events(int32_t after, const std::string& job, int limit) override {
    return store_->Events(after, job, limit);
  }
  absl::StatusOr<int32_t> LastEventRevision() override { return store_->LastEventRevision(); }

 private:
  StateStore* const store_;
  DiskReserve* const reserve_;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_STORE_RESERVED_STORE_H_
