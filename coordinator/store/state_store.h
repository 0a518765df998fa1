// Keeps what must outlive the coordinator: values by key with revisions, and a log of events.
//
// A transaction changes all or nothing and is durable when Commit returns. Each transaction has one revision, which is
// above all earlier ones. A key carries the revision of the last transaction that wrote it. Implementations are
// thread-safe.
//
// The errors are ABORTED (a condition failed because someone else wrote), RESOURCE_EXHAUSTED (disk or quota full, may
// succeed later), OUT_OF_RANGE (the store may not grow any more), UNAVAILABLE (the store cannot be written or read
// now), DATA_LOSS (the store is damaged) and FAILED_PRECONDITION (a newer version wrote the store).
#ifndef REKINDLE_COORDINATOR_STORE_STATE_STORE_H_
#define REKINDLE_COORDINATOR_STORE_STATE_STORE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rekindle/v1/job.pb.h"

namespace rekindle::coordinator {

struct Entry {
  std::string key;
  std::string value;
  int64_t revision = 0;
};

struct Write {
  std::string key;
  // A write without `value` deletes the key, which need not exist.
  std::optional<std::string> value;
  // `if_revision` is the revision that the key must have for the write to happen, with 0 for a key that does not exist.
  // If it is unset, any revision is fine.
  std::optional<int64_t> if_revision;
};

struct Transaction {
  // A transaction must not write a key twice.
  std::vector<Write> writes;
  // The revisions of the events must grow, and be above those of all stored events. Otherwise the commit fails with
  // ABORTED.
  std::vector<v1::Event> events;
  bool empty() const { return writes.empty() && events.empty(); }
};

class StateStore {
 public:
  // A store keeps the newest `kKeptEvents` events. Older ones are pruned, sometimes up to a thousand events late.
  static constexpr int kKeptEvents = 100'000;

  virtual ~StateStore() = default;

  // Commits the transaction and returns its revision.
  virtual absl::StatusOr<int64_t> Commit(const Transaction& transaction) = 0;
  // Returns the entry with the key. Returns nullopt, which is no error, when the key does not exist.
  virtual absl::StatusOr<std::optional<Entry>> Get(const std::string& key) = 0;
  // Returns all entries whose key begins with the prefix, sorted by key.
  virtual absl::StatusOr<std::vector<Entry>> List(const std::string& prefix) = 0;

  // Returns up to `limit` events with a revision above `after`, the oldest first. A `job` that is not empty selects the
  // events of the job of that name.
  virtual absl::StatusOr<std::vector<v1::Event>> Events(int32_t after, const std::string& job, int limit) = 0;
  // Returns the revision of the newest event, or 0 when there has been no event yet.
  virtual absl::StatusOr<int32_t> LastEventRevision() = 0;

  absl::StatusOr<int64_t> Put(const std::string& key, const std::string& value,
                              std::optional<int64_t> if_revision = std::nullopt) {
    return Commit({{{key, value, if_revision}}, {}});
  }
  absl::StatusOr<int64_t> Delete(const std::string& key, std::optional<int64_t> if_revision = std::nullopt) {
    return Commit({{{key, std::nullopt, if_revision}}, {}});
  }
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_STORE_STATE_STORE_H_
