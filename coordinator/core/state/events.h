// Defines the events that the coordinator's core handles, the effects that each of its steps asks for in return, and
// the times and limits with which the core is configured. All of these are plain values.
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

// Submits a job. Its record is validated and resolved, and has a uid and a secret.
struct SubmitJob {
  v1::JobRecord record;
};
struct CancelJob {
  std::string uid;
  // `discard` says that even a final state that is not saved yet is given up.
  bool discard = false;
};
struct PauseJob {
  std::string uid;
};
struct ResumeJob {
  std::string uid;
  // `budget` is the job's budget from now on. 0 leaves the budget as it is.
  double budget = 0;
  // `from` is the checkpoint, or "scratch", from which the job goes on in a new line of its history. Empty means that
  // it goes on from its newest state.
  std::string from = "";
  // `confirmed` says that the user accepts that steps are given up for `from`.
  bool confirmed = false;
  // `store` is where a final state goes that is not saved yet. Empty means the store where it was to go before.
  std::string store = "";
  // `old_is_gone` says that the job was brought back from its store, and that no trainer from before runs any more.
  bool old_is_gone = false;
};
// Takes over a job that runs although there is no record of it (state FOUND).
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
// Says that the machine of a node does not run any more, as the operator knows.
struct NodeGone {
  std::string node;
};
struct TrainerReported {
  v1::TrainerReport report;
};
struct NodeReported {
  v1::NodeReport report;
  // `alone` says that the sender is another machine under the node's name, and that no call of the node's own agent
  // waits at the coordinator, because that agent has hung up.
  bool alone = false;
};
// An Epoch numbers the coordinator that decides, so that members can tell it from an earlier one
// (common/agreed/cluster_identity.h).
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
  // `cluster` is the identity of the cluster (common/agreed/cluster_identity.h).
  std::string cluster;
  Epoch epoch = {};
  // `listen_first` says that the records may be older than what runs. Nothing is decided, and nobody is told anything,
  // before `ListenedFirst`.
  bool listen_first = false;
  std::vector<v1::PoolRecord> pools;
  // `wall_offset` is Unix time minus `now`, in seconds. `Fault.at`, `JobStatus.finished_at` and the costs are computed
  // with it.
  double wall_offset = 0;
  PriceBook prices;
  CarbonBook carbon;
};
// Ends the time in which the coordinator only listens. Everybody who lives has been heard of by now. Decisions begin,
// in the epoch of the event.
struct ListenedFirst {
  Epoch epoch;
};
// Says that Unix time and `now` have moved apart: the machine's clock was set, or `now` stood still, for example while
// the machine slept.
struct ClockSet {
  double wall_offset = 0;
  // `stood_still` is for how many seconds `now` stood still. The rest of the change of `wall_offset` comes from a clock
  // that was set.
  double stood_still = 0;
};
struct PricesSet {
  PriceBook prices;
};
// The event PriceHeard is declared in prices.h.
struct CarbonSet {
  CarbonBook carbon;
};
// Answers a `LeaseQuestion` of `Effects::leases`.
struct LeaseChecked {
  std::string uid;
  int generation = 0;
  // `seconds_left` is 0 where the lease has ended and no member of the generation gets an answer any more.
  double seconds_left = 0;
};
// Says that the time `Effects::wake_at` has come.
struct Tick {};
using Event = std::variant<SubmitJob, CancelJob, PauseJob, ResumeJob, AdoptJob, ForgetJob, DrainNode, UndrainNode,
                           NodeGone, TrainerReported, NodeReported, PoolReported, Restored, ListenedFirst, ClockSet,
                           PricesSet, PriceHeard, CarbonSet, LeaseChecked, Tick>;

// Asks the server whether any member of a generation has got an answer in the last `seconds`. The core has not heard of
// any of them for so long.
struct LeaseQuestion {
  std::string uid;
  int generation = 0;
  double seconds = 0;
};

struct Effects {
  // `status` is the result of a user's verb, such as NOT_FOUND or FAILED_PRECONDITION.
  absl::Status status;
  // The records in `save_jobs`, `save_nodes` and `save_pools` must be durable before anything else of the step is seen.
  std::vector<v1::JobRecord> save_jobs;
  std::vector<v1::NodeRecord> save_nodes;
  std::vector<v1::PoolRecord> save_pools;
  // `forget_jobs` holds uids and `forget_nodes` holds names. After the other records are saved, the records of these
  // jobs and nodes are removed, with whatever else is kept of them.
  std::vector<std::string> forget_jobs;
  std::vector<std::string> forget_nodes;
  // `events` have no revision and no time yet. The server stamps and stores them.
  std::vector<v1::Event> events;
  // `changed_jobs` holds the uids of jobs whose status has changed, which wakes watchers. Nothing has to be persisted
  // for that.
  std::vector<std::string> changed_jobs;
  // `orders` holds the orders to pools that have changed. After a restart it holds all orders once. They must not be
  // sent before `save_jobs` is durable.
  std::vector<PoolOrder> orders;
  // Each question in `leases` must be answered with `LeaseChecked` once the step is durable.
  std::vector<LeaseQuestion> leases;
  // `crowded_out` counts the entries that were forgotten because a bounded set or map was full.
  int crowded_out = 0;
  // `all_touched` says that any directive may have changed. If it is false, no others may have changed than the
  // sender's, those of the trainers of `touched_jobs`, and those of the nodes that these jobs have slots on.
  bool all_touched = false;
  std::set<std::string> touched_jobs;
  // `wake_at` is when the server must send `Tick`. Earlier ticks do no harm.
  double wake_at = std::numeric_limits<double>::infinity();
};

// Names a check by which `SubmitJob` refuses a valid job because of what the cluster knows, such as other jobs and
// prices.
enum class SubmitCheck { kName, kPrecision, kOwnModel, kBudget, kGoals };

// `kNoLease` is the value of `spec.recovery.lease` with which silence never ends a generation.
inline constexpr char kNoLease[] = "none";
// A job's spec may not ask for a shorter lease than this many seconds.
inline constexpr double kShortestLease = 60;

struct Tunables {
  // A trainer that is silent is given up this long after one of its sockets closed.
  double closed_grace_seconds = 0.1;
  // A rank may be without progress for max(minimum_deadline_seconds, deadline_steps * p99 of a step) seconds.
  double minimum_deadline_seconds = 2;
  double deadline_steps = 5;
  // A cold start waits this long for more workers than the minimum.
  double formation_seconds = 2;
  // No member counts as silent before this time after a coordinator start.
  double reconnect_seconds = 0.6;
  // A node is lost after this time without a report from its agent and without progress by its trainers.
  double node_lost_seconds = 10;
  // A node whose agent was probed after a failure is lost after this time if neither the agent nor one of its trainers
  // has said a word since.
  double unanswered_seconds = 3;
  // A node has this long to answer a probe that it gets because another machine reports under its name.
  double name_seconds = 1;
  // A node whose agent has hung up has this long to answer a probe that it gets because another machine reports under
  // its name.
  double hung_up_seconds = 0.25;
  // A node that is kept out because its ranks could not work with others is excluded this long the first time. The time
  // doubles each time, up to 300 seconds.
  double exclusion_seconds = 10;
  // `refuse_unfit_precision` ends jobs whose precision the nodes are not fit for. If it is false, there is only a
  // warning.
  bool refuse_unfit_precision = false;
  // `allow_fake_devices` accepts nodes on which a device for tests stands in for a GPU.
  bool allow_fake_devices = false;
  // If `takes_code` is false, no job with code of its own gets a worker, also where it was taken by a coordinator that
  // was started with another --allow-code. Workers that it has already go on.
  bool takes_code = true;
  // The costs of jobs are published, and their budgets are checked, at least this often.
  double evaluation_seconds = 10;
  // A pause with a checkpoint may take this long, so a job is told to stop at least this long before its budget is
  // spent.
  double pause_seconds = 20;
  // An ordered node that serves nobody is kept this long.
  double idle_seconds = 120;
  // A pool whose nodes take longer than this to come is avoided.
  double pool_start_seconds = 900;
  // A pool is avoided this long the first time. The time doubles each time, up to an hour.
  double pool_avoid_seconds = 60;
  // An ordered machine has this long to register as a node, on top of its pool's `start_seconds`.
  double register_seconds = 600;
  // A pool is avoided after this many machines in a row that never registered.
  int never_registered_in_a_row = 3;
  // After a coordinator restart no machine is ended before the nodes have had this long to be heard of.
  double return_seconds = 60;
  // The planner looks this often at jobs with goals in time, such as a deadline.
  double planning_seconds = 60;
  // `lease_seconds`, `lease_save_seconds` and `lease_step_seconds` are the defaults of `Membership.lease_*`. A job's
  // spec may set another `lease_seconds`.
  double lease_seconds = 600;
  double lease_save_seconds = 60;
  double lease_step_seconds = 60;
  // An ordered machine ends itself after this time without a coordinator. 0 means never.
  double alone_seconds = 3600;
  // At most `keep_jobs` jobs that are over are kept, each for at most `keep_days` days.
  int keep_jobs = 1000;
  double keep_days = 90;
  // A lost node is remembered this long.
  double keep_lost_seconds = 7 * 24 * 3600;
  // A lost node whose machine is known to have ended is remembered this long.
  double keep_ended_seconds = 3600;
  // A job fails when the trainers on one of its slots die this often in a row without a step.
  int max_start_failures = 5;
};

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_STATE_EVENTS_H_
