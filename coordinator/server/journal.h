// Collects what the core wants durable into one transaction at a time, and writes it. Keys: "job/<uid>", "node/<name>",
// "pool/<name>", "request/<id>".
//
// Thread-compatible: the loop's thread owns it.
#ifndef REKINDLE_COORDINATOR_SERVER_JOURNAL_H_
#define REKINDLE_COORDINATOR_SERVER_JOURNAL_H_

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "coordinator/core/cluster.h"
#include "coordinator/state_store.h"

namespace rekindle::coordinator {

class Journal {
 public:
  static constexpr size_t kRequests = 10'000;  // Answers kept for repeated request ids.

  explicit Journal(StateStore* store) : store_(store) {}

  // Once, first. Jobs in order of submission. DATA_LOSS names a record that cannot be read.
  absl::StatusOr<core::Restored> Load();

  // Adds to the open transaction; a record saved again replaces the one before.
  void Add(const core::Effects& effects, double unix_time);
  void Add(const v1::RequestRecord& request);
  // Of keys that are not its own.
  void Add(const std::vector<Write>& writes);
  // The answer to that id, also when not yet durable; null when there is none. Valid until the next Add.
  const v1::RequestRecord* FindRequest(const std::string& id) const;

  bool empty() const { return writes_.empty() && events_.empty(); }
  const std::vector<v1::Event>& events() const { return events_; }  // Of the open transaction, stamped.
  // OK: durable, and a new transaction is open. Else nothing was written and everything is kept for another try.
  absl::Status Commit();

 private:
  void Set(const std::string& key, std::string value);
  void Delete(const std::string& key);
  void ForgetOldRequests();

  StateStore* const store_;
  std::map<std::string, int64_t> revisions_;
  int32_t last_event_ = 0;
  std::map<std::string, v1::RequestRecord> requests_;
  std::deque<std::string> request_order_;
  std::map<std::string, Write> writes_;
  std::vector<v1::Event> events_;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_JOURNAL_H_
