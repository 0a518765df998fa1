// The coordinator as a pure function: Step(state, event, now) -> effects. No clock, thread, socket or file here;
// the server feeds events one at a time, persists what Effects names, and only then lets anyone see the new state.
//
// `now` is seconds of a steady clock with any origin; it never goes back.
#ifndef REKINDLE_COORDINATOR_CORE_CLUSTER_H_
#define REKINDLE_COORDINATOR_CORE_CLUSTER_H_

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "coordinator/core/carbon.h"
#include "coordinator/core/pool_orders.h"
#include "coordinator/core/prices.h"
#include "rekindle/v1/job.pb.h"
#include "rekindle/v1/node.pb.h"
#include "rekindle/v1/store.pb.h"
#include "rekindle/v1/trainer.pb.h"

namespace rekindle::core {

struct SubmitJob {
  v1::JobRecord record;
};  // Validated and resolved; uid and secret set.
struct CancelJob {
  std::string uid;
  bool discard = false;  // A final state that is not saved yet is given up, too.
};
struct PauseJob {
  std::string uid;
};
struct ResumeJob {
  std::string uid;
  double budget = 0;         // From now on; 0: as it is.
  std::string from = "";     // A checkpoint, or "scratch": begins a new line there. Empty: from the newest state.
  bool confirmed = false;    // Steps may be given up for that.
  std::string store = "";    // Where its final state goes, which is not saved yet; empty: where it was to go.
  bool old_is_gone = false;  // It was brought back from its store, and no trainer of before runs any more.
};
struct AdoptJob {
  std::string uid;
};  // Of one that is FOUND.
struct ForgetJob {
  std::string uid;
};  // Of one that is over.
struct DrainNode {
  std::string node;
  double within_seconds = 0;
  std::string reason;
};
struct UndrainNode {
  std::string node;
};
// The operator knows that its machine does not run any more.
struct NodeGone {
  std::string node;
};
struct TrainerReported {
  v1::TrainerReport report;
};
struct NodeReported {
  v1::NodeReport report;
  bool alone = false;  // No call of the agent that the sender is a rival of waits at the coordinator: it has hung up.
};
// Of the coordinator that decides; common/cluster_identity.h.
struct Epoch {
  int number = 0;
  uint64_t tag = 0;
  bool operator==(const Epoch&) const = default;
};
// Records read from the store when the coordinator starts; always the first event of a process.
struct Restored {
  std::vector<v1::JobRecord> jobs;
  std::vector<v1::NodeRecord> nodes;
  std::string cluster;  // The identity's; common/cluster_identity.h.
  Epoch epoch = {};
  // The records may be older than what runs: nothing is decided, and nobody told anything, before ListenedFirst.
  bool listen_first = false;
  std::vector<v1::PoolRecord> pools;
  double wall_offset = 0;  // Unix time minus `now`; stamps Fault.at and JobStatus.finished_at, and counts costs.
  PriceBook prices;
  CarbonBook carbon;
};
// Whoever lives has been heard of by now. Decisions begin, in that epoch.
struct ListenedFirst {
  Epoch epoch;
};
// Unix time is another than `now` has made it: the machine's clock was set, or `now` stood still.
struct ClockSet {
  double wall_offset = 0;
  double stood_still =
      0;  // Seconds that have passed without `now`. The rest of the difference is of a clock that was set.
};
struct PricesSet {
  PriceBook prices;
};
// PriceHeard: prices.h.
struct CarbonSet {
  CarbonBook carbon;
};
// The answer to Effects::leases.
struct LeaseChecked {
  std::string uid;
  int generation = 0;
  double seconds_left = 0;  // 0: it has ended, and no member of that generation gets an answer any more.
};
struct Tick {};  // Time has come to Effects::wake_at.
using Event = std::variant<SubmitJob, CancelJob, PauseJob, ResumeJob, AdoptJob, ForgetJob, DrainNode, UndrainNode,
                           NodeGone, TrainerReported, NodeReported, PoolReported, Restored, ListenedFirst, ClockSet,
                           PricesSet, PriceHeard, CarbonSet, LeaseChecked, Tick>;

// Nobody of that generation was heard of for so long. Has any of them got an answer since?
struct LeaseQuestion {
  std::string uid;
  int generation = 0;
  double seconds = 0;
};

struct Effects {
  absl::Status status;                   // Of a user's verb: NOT_FOUND, FAILED_PRECONDITION, ...
  std::vector<v1::JobRecord> save_jobs;  // To be durable before anything else of this step is seen.
  std::vector<v1::NodeRecord> save_nodes;
  std::vector<v1::PoolRecord> save_pools;
  std::vector<std::string> forget_jobs;   // Uids; records and whatever else is kept of them go, after what is saved.
  std::vector<std::string> forget_nodes;  // Names.
  std::vector<v1::Event> events;          // Without revision and time: the server stamps and stores them.
  std::vector<std::string> changed_jobs;  // Uids whose status changed (wakes watchers); nothing to persist.
  std::vector<PoolOrder> orders;          // Those that changed; all again after a restart. Not before save_jobs.
  std::vector<LeaseQuestion> leases;      // Each is to be answered with LeaseChecked, once this step is durable.
  int crowded_out = 0;                    // What full sets have forgotten for something newer.
  bool all_touched = false;               // Any directive may have changed; else those of the sender ...
  std::set<std::string> touched_jobs;     // ... and of the trainers of these, and of the nodes they have slots on.
  double wake_at = std::numeric_limits<double>::infinity();  // Send Tick then (earlier ones are harmless).
};

// Why SubmitJob is refused whose job is sound in itself.
enum class SubmitCheck { kName, kPrecision, kBudget, kGoals };

inline constexpr char kNoLease[] = "none";    // spec.recovery.lease: silence never ends a generation.
inline constexpr double kShortestLease = 60;  // Seconds, of a job's spec.

struct Tunables {
  double closed_grace_seconds = 0.1;    // Silent after a socket of theirs closed.
  double minimum_deadline_seconds = 2;  // Progress deadline: max(this, deadline_steps * p99 step).
  double deadline_steps = 5;
  double formation_seconds = 2;    // At a cold start, wait so long for more workers than the minimum.
  double reconnect_seconds = 0.6;  // After a coordinator start: nobody is silent before.
  double node_lost_seconds = 10;   // No report from the agent and no progress by its trainers.
  double unanswered_seconds = 3;   // The agent was asked after a failure, and neither it nor its trainers said a word.
  double name_seconds = 1;         // Asked because another machine gives its name, a node has so long to answer, ...
  double hung_up_seconds = 0.25;   // ... and this where it has hung up.
  double exclusion_seconds = 10;   // Doubles each time, at most 300.
  bool refuse_unfit_precision = false;  // End jobs whose precision the nodes are no good at, rather than warn.
  double evaluation_seconds = 10;       // Costs are told and budgets looked at so often, at least.
  double pause_seconds = 20;            // What a pause with a checkpoint may take: a budget stops a job so long before.
  double idle_seconds = 120;            // An ordered node that serves nobody is kept so long.
  double pool_start_seconds = 900;      // A pool whose nodes take longer gives nothing: it is avoided.
  double pool_avoid_seconds = 60;       // Doubles each time, at most an hour.
  double register_seconds = 600;        // A node has so long, and its pool's start_seconds, to register.
  int never_registered_in_a_row = 3;    // Machines for which their pool is avoided.
  double return_seconds = 60;    // After a restart nodes have so long to be heard of before any machine is ended.
  double planning_seconds = 60;  // Goals in time are looked at so often.
  // Membership.lease_*. What a job's spec says goes first.
  double lease_seconds = 600;
  double lease_save_seconds = 60;
  double lease_step_seconds = 60;
  double alone_seconds = 3600;  // An ordered machine ends itself after so long without a coordinator. 0: never.
  int keep_jobs = 1000;         // So many that are over,
  double keep_days = 90;        // for so long.
  double keep_lost_seconds = 7 * 24 * 3600;  // A node is known so long after the last word of it,
  double keep_ended_seconds = 3600;          // and so long where its machine is known to have ended.
  int max_start_failures = 5;                // A job fails when its trainers die so often in a row without a step.
};

// Where a job's checkpoints are, as its record says. Empty: it kept none.
std::string CheckpointsOf(const v1::JobRecord& record);

class Cluster {  // The whole volatile and persistent state. Copyable, so that a simulation can snapshot it.
 public:
  explicit Cluster(Tunables tunables = {});
  ~Cluster();
  Cluster(const Cluster&);
  Cluster& operator=(const Cluster&);

  // Take, and Settle at once.
  Effects Step(const Event& event, double now);
  // Takes an event in: what it says is known from now on, and nothing is decided. `effects` is added to: status and
  // events.
  void Take(const Event& event, double now, Effects* effects);
  // Decides with all events that were taken, first for each job that they concern, then over all jobs and nodes.
  // REQUIRED before directives and views are asked for, and before time passes.
  void Settle(double now, Effects* effects);

  // What to answer; `revision` is set and changes whenever the rest does, and the rest is left out where it is known.
  // Errors are inside the directive.
  v1::TrainerDirective DirectiveForTrainer(const std::string& job_uid, const std::string& trainer,
                                           int known_revision = 0) const;
  v1::NodeDirective DirectiveForNode(const std::string& node, int known_revision = 0) const;
  // For the agent of that incarnation: another one may have its node's name.
  v1::NodeDirective DirectiveForAgent(const std::string& node, const std::string& agent, int known_revision = 0) const;
  // The agent whose answer decides whether that one gets its node's name, so that it is to speak again soon. Empty:
  // that is decided.
  std::string RivalOf(const std::string& node, const std::string& agent) const;
  // What that node may do without word of the coordinator; see core/spending.h.
  struct Horizons {
    double alone_seconds = 0;  // 0: for ever.
    double spend_until = 0;    // Unix seconds; infinite: no limit.
  };
  Horizons HorizonsOf(const std::string& node) const;
  // Those with slots of one of these jobs.
  std::vector<std::string> NodesOf(const std::set<std::string>& job_uids) const;

  // After Restored, until ListenedFirst: users' verbs are UNAVAILABLE, all else is kept, and nobody is to be told
  // anything.
  bool IsListening() const;

  // What SubmitJob of that record would be refused with for that reason; OK: nothing. Its uid and secret need not be
  // set.
  absl::Status CheckSubmit(SubmitCheck what, const v1::JobRecord& record, double now) const;

  // Views for the user's verbs. Null when there is none.
  const v1::JobRecord* FindJob(const std::string& name_or_uid) const;
  std::vector<const v1::JobRecord*> Jobs() const;  // In order of submission; those that are FOUND last.
  size_t ActiveJobs() const;                       // Those that are not over.
  // By name; at most so many of those behind `after`.
  std::vector<v1::Node> Nodes(double now, const std::string& after = "", size_t at_most = SIZE_MAX) const;
  std::optional<v1::Node> FindNode(double now, const std::string& name) const;
  const PriceBook& Prices() const;

 private:
  struct Impl;
  Impl* impl_;
};

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_CLUSTER_H_
