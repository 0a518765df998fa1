// Hands events to the core, and collects what it decides. What has to be durable goes into the journal. Answers and
// news that depend on it are kept back until it is durable.
#ifndef REKINDLE_COORDINATOR_SERVER_LOOP_DECISIONS_H_
#define REKINDLE_COORDINATOR_SERVER_LOOP_DECISIONS_H_

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/metrics/metrics.h"
#include "coordinator/core/cluster.h"
#include "coordinator/server/boards/journal.h"
#include "coordinator/server/loop/core_clock.h"
#include "coordinator/server/loop/directive_polls.h"
#include "coordinator/server/loop/loop_items.h"
#include "coordinator/server/loop/published_state.h"

namespace rekindle::coordinator {

// Holds the results of the core's steps that nobody has seen yet.
struct Unpublished {
  // `changed_jobs` holds the uids of jobs whose status changed.
  std::set<std::string> changed_jobs;
  // `forgotten_jobs` holds the uids of jobs that were forgotten.
  std::vector<std::string> forgotten_jobs;
  Touched touched;
  std::vector<core::PoolOrder> orders;
  // `pools` holds the pools that changed, by name.
  std::map<std::string, v1::PoolRecord> pools;
  std::vector<core::LeaseQuestion> leases;
  std::vector<std::pair<std::function<void(absl::StatusOr<std::string>)>, absl::StatusOr<std::string>>> answers;
};

// Decisions is thread-compatible: the loop's thread owns it.
class Decisions {
 public:
  // The caller keeps the ownership of all arguments, which must outlive this object.
  Decisions(core::Cluster* cluster, Journal* journal, const CoreClock* clock, PublishedState* published,
            common::Metrics* metrics);

  // Hands an event to the core. Returns OK, or the error with which the core refuses the event.
  absl::Status Take(const core::Event& event);
  // Hands a user's change to the core. It is answered once the core has decided and the decision is durable. A repeated
  // request gets the answer to the first one.
  void Take(Mutation mutation);
  // Lets the core decide on the events that were handed to it since the last call.
  void Decide();

  // Returns the time of the core's clock at which the core wants its next core::Tick.
  double wake_at() const { return wake_at_; }
  Unpublished& unpublished() { return unpublished_; }

 private:
  void Absorb(const core::Effects& effects);
  void Answer(Mutation& mutation, absl::StatusOr<std::string> reply);

  core::Cluster* const cluster_;
  Journal* const journal_;
  const CoreClock* const clock_;
  PublishedState* const published_;
  prometheus::Counter& crowded_out_;
  Unpublished unpublished_;
  // `undecided_` holds the changes that were handed to the core since it last decided.
  std::vector<Mutation> undecided_;
  // `undecided_requests_` holds the ids of the requests in `undecided_`.
  std::set<std::string> undecided_requests_;
  double wake_at_ = kForever;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_LOOP_DECISIONS_H_
