// Defines what happens to the coordinator, what each step of it asks for in return, and the times that it is set to.
// All of these are plain values.
#ifndef REKINDLE_COORDINATOR_CORE_STATE_EVENTS_H_
#define REKINDLE_COORDINATOR_CORE_STATE_EVENTS_H_

#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "coordinator/market/carbon.h"
#include "coordinator/market/pool_orders.h"
#include "coordinator/market/prices.h"
#include "rekindle/v1/job.pb.h"
#include "rekindle/v1/node.pb.h"
#include "rekindle/v1/store.pb.h"
#include "rekindle/v1/trainer.pb.h"

namespace rekindle::core {

// The record is validated and resolved, and has a uid and a secret.
struct SubmitJob {
  v1::JobRecord record;
};
struct CancelJob {
  std::string uid;
  // Says that even a final state that is not saved yet is given up.
  bool discard = false;
};
struct PauseJob {
  std::string uid;
};
struct ResumeJob {
  std::string uid;
  // The budget counts from now on. 0 leaves the budget as it is.
  double budget = 0;
  // `from` is a checkpoint or "scratch", where a new line of the job begins. Empty means the newest state.
  std::string from = "";
  // The user accepts that steps are given up for `from`.
  bool confirmed = false;
  // A final state that is not saved yet goes here. An empty string means where it was to go before.
  std::string store = "";
  // The job was brought back from its store, and no trainer from before runs any more.
  bool old_is_gone = false;
};
// Takes over a job that is FOUND.
struct AdoptJob {
  std::string uid;
};
// Forgets a job that is over.
struct ForgetJob {
  std::string uid;
};
struct DrainNode {
  std::string node;
  double within_seconds = 0;
  std::string reason;
};
struct UndrainNode {
  std::string node;
};
// The operator knows that the node's machine does not run any more.
struct NodeGone {
  std::string node;
};
struct TrainerReported {
  v1::TrainerReport report;
};
struct NodeReported {
  v1::NodeReport report;
  // The sender is another machine under the node's name. No call of the node's own agent waits at the coordinator,
  // because that agent has hung up.
  bool alone = false;
};
// Numbers the coordinator that decides (common/agreed/cluster_identity.h).
struct Epoch {
  int number = 0;
  uint64_t tag = 0;
  bool operator==(const Epoch&) const = default;
};
// Brings the records that were read from the store when the coordinator started. It is always the first event of a
// process.
struct Restored {
  std::vector<v1::JobRecord> jobs;
  std::vector<v1::NodeRecord> nodes;
  // This is the identity of the cluster (common/agreed/cluster_identity.h).
  std::string cluster;
  Epoch epoch = {};
  // The records may be older than what runs. Nothing is decided, and nobody is told anything, before `ListenedFirst`.
  bool listen_first = false;
  std::vector<v1::PoolRecord> pools;
  // `wall_offset` is Unix time minus `now`, in seconds. It stamps `Fault.at` and `JobStatus.finished_at`, and counts
  // costs.
  double wall_offset = 0;
  PriceBook prices;
  CarbonBook carbon;
};
// Everybody who lives has been heard of by now. Decisions begin, in that epoch.
struct ListenedFirst {
  Epoch epoch;
};
// Unix time differs from what `now` says: the machine's clock was set, or `now` stood still.
struct ClockSet {
  double wall_offset = 0;
  // This many seconds passed while `now` stood still. The rest of the difference comes from a clock that was set.
  double stood_still = 0;
};
struct PricesSet {
  PriceBook prices;
};
// The event PriceHeard is declared in prices.h.
struct CarbonSet {
  CarbonBook carbon;
};
// Answers a question of `Effects::leases`.
struct LeaseChecked {
  std::string uid;
  int generation = 0;
  // 0 seconds mean that the lease has ended, and that no member of that generation gets an answer any more.
  double seconds_left = 0;
};
// The time `Effects::wake_at` has come.
struct Tick {};
using Event = std::variant<SubmitJob, CancelJob, PauseJob, ResumeJob, AdoptJob, ForgetJob, DrainNode, UndrainNode,
                           NodeGone, TrainerReported, NodeReported, PoolReported, Restored, ListenedFirst, ClockSet,
                           PricesSet, PriceHeard, CarbonSet, LeaseChecked, Tick>;

// Asks whether any member of that generation has got an answer in the last `seconds`. Nobody of it was heard of for so
// long.
struct LeaseQuestion {
  std::string uid;
  int generation = 0;
  double seconds = 0;
};

struct Effects {
  // `status` is the result of a user's verb, such as NOT_FOUND or FAILED_PRECONDITION.
  absl::Status status;
  // These three lists of records must be durable before anything else of this step is seen.
  std::vector<v1::JobRecord> save_jobs;
  std::vector<v1::NodeRecord> save_nodes;
  std::vector<v1::PoolRecord> save_pools;
  // The jobs of these uids and the nodes of these names are forgotten after the other records are saved. Their records
  // go, with whatever else is kept of them.
  std::vector<std::string> forget_jobs;
  std::vector<std::string> forget_nodes;
  // The events have no revision and no time yet. The server stamps and stores them.
  std::vector<v1::Event> events;
  // The status of these uids changed, which wakes watchers. There is nothing to persist.
  std::vector<std::string> changed_jobs;
  // These orders changed. After a restart all orders are here once. They must not be sent before `save_jobs` is
  // durable.
  std::vector<PoolOrder> orders;
  // Each question must be answered with `LeaseChecked` once this step is durable.
  std::vector<LeaseQuestion> leases;
  // Counts what full sets have forgotten to make room for something newer.
  int crowded_out = 0;
  // Any directive may have changed. If it is false, only the sender's, those of the trainers of `touched_jobs`, and
  // those of the nodes that these jobs have slots on may have changed.
  bool all_touched = false;
  std::set<std::string> touched_jobs;
  // `Tick` must be sent at this time. Earlier ticks do no harm.
  double wake_at = std::numeric_limits<double>::infinity();
};

// Names the check by which `SubmitJob` refuses a job that is sound in itself.
enum class SubmitCheck { kName, kPrecision, kBudget, kGoals };

// With this value of `spec.recovery.lease`, silence never ends a generation.
inline constexpr char kNoLease[] = "none";
// A job's spec may not ask for a shorter lease than this many seconds.
inline constexpr double kShortestLease = 60;

struct Tunables {
  // A trainer that is silent is given up this long after one of its sockets closed.
  double closed_grace_seconds = 0.1;
  // The deadline for progress is max(minimum_deadline_seconds, deadline_steps * p99 of a step).
  double minimum_deadline_seconds = 2;
  double deadline_steps = 5;
  // A cold start waits this long for more workers than the minimum.
  double formation_seconds = 2;
  // Nobody counts as silent before this time after a coordinator start.
  double reconnect_seconds = 0.6;
  // A node is lost after this time without a report from its agent and without progress by its trainers.
  double node_lost_seconds = 10;
  // A node is lost after this time where its agent was asked after a failure, and neither it nor its trainers said a
  // word since.
  double unanswered_seconds = 3;
  // A node has this long to answer when it is asked because another machine gives its name.
  double name_seconds = 1;
  // A node that has hung up has this long to answer when another machine gives its name.
  double hung_up_seconds = 0.25;
  // A node is excluded this long the first time. The time doubles each time, up to 300 seconds.
  double exclusion_seconds = 10;
  // Jobs whose precision the nodes are not fit for end. If it is false, there is only a warning.
  bool refuse_unfit_precision = false;
  // Costs are told and budgets are looked at at least this often.
  double evaluation_seconds = 10;
  // A pause with a checkpoint may take this long, so a budget stops a job this long before its end.
  double pause_seconds = 20;
  // An ordered node that serves nobody is kept this long.
  double idle_seconds = 120;
  // A pool whose nodes take longer than this to come is avoided.
  double pool_start_seconds = 900;
  // A pool is avoided this long the first time. The time doubles each time, up to an hour.
  double pool_avoid_seconds = 60;
  // A node has this long to register, on top of its pool's `start_seconds`.
  double register_seconds = 600;
  // A pool is avoided after this many machines in a row that never registered.
  int never_registered_in_a_row = 3;
  // After a restart no machine is ended before nodes have had this long to be heard of.
  double return_seconds = 60;
  // Goals in time are looked at this often.
  double planning_seconds = 60;
  // The next three are the defaults of `Membership.lease_*`. What a job's spec says goes first.
  double lease_seconds = 600;
  double lease_save_seconds = 60;
  double lease_step_seconds = 60;
  // An ordered machine ends itself after this time without a coordinator. 0 means never.
  double alone_seconds = 3600;
  // This many jobs that are over are kept, for this many days.
  int keep_jobs = 1000;
  double keep_days = 90;
  // A node is known this long after it was lost.
  double keep_lost_seconds = 7 * 24 * 3600;
  // A node whose machine is known to have ended is known this long.
  double keep_ended_seconds = 3600;
  // A job fails when its trainers die this often in a row without a step.
  int max_start_failures = 5;
};

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_STATE_EVENTS_H_
