// Collects what the core wants to be durable into one transaction at a time, and writes it. The keys of its records are
// "job/<uid>", "node/<name>", "pool/<name>" and "request/<id>".
//
// This class is thread-compatible: the loop's thread owns it.
#ifndef REKINDLE_COORDINATOR_SERVER_BOARDS_JOURNAL_H_
#define REKINDLE_COORDINATOR_SERVER_BOARDS_JOURNAL_H_

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "coordinator/core/cluster.h"
#include "coordinator/store/state_store.h"

namespace rekindle::coordinator {

class Journal {
 public:
  // The answers to `kRequests` request ids are kept for repeated requests.
  static constexpr size_t kRequests = 10'000;

  explicit Journal(StateStore* store) : store_(store) {}

  // Reads everything from the store. It must be called once, before anything else. The jobs come in the order of their
  // submission. DATA_LOSS names a record that cannot be read.
  absl::StatusOr<core::Restored> Load();

  // Adds what the core wants to be durable to the open transaction. A record that is saved again replaces the one
  // before.
  void Add(const core::Effects& effects, double unix_time);
  void Add(const v1::RequestRecord& request);
  // Adds writes of keys that do not belong to the journal itself to the open transaction.
  void Add(const std::vector<Write>& writes);
  // Returns the answer to the request `id`, even when it is not durable yet, or null when there is none. The pointer is
  // valid until the next Add.
  const v1::RequestRecord* FindRequest(const std::string& id) const;

  bool empty() const { return writes_.empty() && events_.empty(); }
  // Returns the events of the open transaction, with their revision and time already set.
  const std::vector<v1::Event>& events() const { return events_; }
  // Writes the open transaction. OK means that it is durable and a new transaction is open. On an error nothing was
  // written, and everything is kept for another try.
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

#endif  // REKINDLE_COORDINATOR_SERVER_BOARDS_JOURNAL_H_
