// Where the coordinator keeps what must outlive it: values by key with revisions, and a log of events.
//
// One transaction changes all or nothing and is durable when Commit returns. Every transaction has one revision, above
// all before; a key carries that of the last transaction that wrote it. Implementations are thread-safe.
//
// Errors: ABORTED (a condition failed: someone else wrote), RESOURCE_EXHAUSTED (disk or quota full; may succeed later),
// OUT_OF_RANGE (it may not grow any more),
// UNAVAILABLE (cannot be written or read now), DATA_LOSS (damaged), FAILED_PRECONDITION (a newer version wrote it).
#ifndef REKINDLE_COORDINATOR_STATE_STORE_H_
#define REKINDLE_COORDINATOR_STATE_STORE_H_

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
  std::optional<std::string> value;    // None: delete (also of what is not there).
  std::optional<int64_t> if_revision;  // What the key must have: 0 for none there. Unset: any.
};

struct Transaction {
  std::vector<Write> writes;      // No key twice.
  std::vector<v1::Event> events;  // With revisions, growing, above all stored; else ABORTED.
  bool empty() const { return writes.empty() && events.empty(); }
};

class StateStore {
 public:
  static constexpr int kKeptEvents = 100'000;  // Older ones are pruned, sometimes a thousand late.

  virtual ~StateStore() = default;

  // The revision of the transaction.
  virtual absl::StatusOr<int64_t> Commit(const Transaction& transaction) = 0;
  // None there is no error.
  virtual absl::StatusOr<std::optional<Entry>> Get(const std::string& key) = 0;
  // All whose key begins with the prefix, by key.
  virtual absl::StatusOr<std::vector<Entry>> List(const std::string& prefix) = 0;

  // Up to `limit` events after a revision, oldest first; of one job unless the name is empty.
  virtual absl::StatusOr<std::vector<v1::Event>> Events(int32_t after, const std::string& job, int limit) = 0;
  // 0 when there was none yet.
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

#endif  // REKINDLE_COORDINATOR_STATE_STORE_H_
