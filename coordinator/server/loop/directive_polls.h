// Keeps the long polls of trainers and agents, and answers each when its directive has changed.
#ifndef REKINDLE_COORDINATOR_SERVER_LOOP_DIRECTIVE_POLLS_H_
#define REKINDLE_COORDINATOR_SERVER_LOOP_DIRECTIVE_POLLS_H_

#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "coordinator/core/cluster.h"
#include "coordinator/server/boards/lease_book.h"
#include "coordinator/server/boards/log_senders.h"
#include "coordinator/server/boards/poll_table.h"
#include "coordinator/server/loop/core_clock.h"

namespace rekindle::coordinator {

// A `TrainerKey` is the job's uid and the trainer's name.
using TrainerKey = std::pair<std::string, std::string>;
using TrainerPolls = PollTable<TrainerKey, v1::TrainerDirective>;
// A `NodeKey` is the node's name and the incarnation of its agent.
using NodeKey = std::pair<std::string, std::string>;
using NodePolls = PollTable<NodeKey, v1::NodeDirective>;

// Says whose directives may have changed.
struct Touched {
  // `jobs` holds uids of jobs. The directives of all their trainers and nodes may have changed.
  std::set<std::string> jobs;
  // `nodes` holds names of nodes. Only their own directives may have changed, not those of trainers.
  std::set<std::string> nodes;
  bool all = false;
};

// DirectivePolls is thread-compatible: the loop's thread owns it.
class DirectivePolls {
 public:
  // The caller keeps the ownership of all arguments, which must outlive this object.
  DirectivePolls(const core::Cluster* cluster, const CoreClock* clock, LeaseBook* leases)
      : cluster_(cluster), clock_(clock), leases_(leases) {}

  TrainerPolls& trainers() { return trainers_; }
  NodePolls& nodes() { return nodes_; }
  // Returns the record of which nodes were told to run which job.
  const LogSenders& log_senders() const { return log_senders_; }

  // Answers the polls whose directive has changed.
  void Check(Touched touched);
  // Answers the polls whose deadline has passed, with the error `why_silent`, or with their directive if `why_silent`
  // is OK.
  void Expire(const absl::Status& why_silent);
  void AnswerAll(const absl::Status& status);
  // Returns the next deadline of a poll, or infinity when there is none.
  double NextDeadline() const;

 private:
  v1::TrainerDirective ForTrainer(const TrainerKey& key, int32_t known);
  v1::NodeDirective ForAgent(const NodeKey& key, int32_t known);

  const core::Cluster* const cluster_;
  const CoreClock* const clock_;
  LeaseBook* const leases_;
  TrainerPolls trainers_;
  NodePolls nodes_;
  LogSenders log_senders_;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_LOOP_DIRECTIVE_POLLS_H_
