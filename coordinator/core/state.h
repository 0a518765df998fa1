// What the core knows: records that persist, and what was learned from reports since the start. Plain copyable values,
// no behaviour. Every function of the core takes these explicitly.
#ifndef REKINDLE_COORDINATOR_CORE_STATE_H_
#define REKINDLE_COORDINATOR_CORE_STATE_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "coordinator/core/cluster.h"
#include "coordinator/core/recent.h"
#include "coordinator/scheduler/cycle.h"

namespace rekindle::core {

inline constexpr char kSmokeTest[] = "smoke_test";  // Its lever's name; in the status once it has passed.
inline constexpr size_t kMaxTrainers = 4096;        // Of one job, that are remembered.
inline constexpr size_t kMaxTold = 4096;            // Things that events of one job have told.
inline constexpr size_t kMaxPastAgents = 64;        // Of one node.

// Names that were heard of last.
using RecentNames = Recent<std::monostate>;
inline constexpr double kNever = std::numeric_limits<double>::infinity();

// One trainer process.
struct Trainer {
  bool reported = false;       // False: only its agent has spoken of it.
  double heard = -kNever;      // When any report arrived.
  double spoken_of = -kNever;  // When it, or its agent, said anything of it; see remembered.h.
  std::string death;         // How it is known to have died ("was killed by signal 9 (agent of n2)"); empty: it is not.
  std::string death_kind;    // The fault kind of that.
  bool certain = false;      // That it is dead; see fence.h.
  double stopped_at = 0;     // When it first said so in the generation it last reported.
  bool left_out = false;     // Did not stop in time during the running regroup.
  bool waits = false;        // Has stopped in it: what it is told while it waits may change.
  v1::TrainerReport report;  // The newest by sequence.
};

// A change of membership under way, or waiting for enough workers. Level-triggered: re-examined at every event.
struct Forming {
  double since = 0;
  std::string reason;          // Shown to the trainers that wait; does not change while forming.
  bool failure = false;        // Opened by evidence of a failure rather than at an agreed boundary or a cold start.
  bool pairs_counted = false;  // The accusations of this failure are in Suspicions already.
  std::string removed;         // The trainer that is taken out because two ranks cannot work together.
  std::string removed_reason;
  double completed_at = -kNever;   // When a step was last seen completed before.
  std::string find;                // The manifest that trainers are to look for; empty: none.
  bool verify = false;             // Somebody read damaged bytes of it.
  double damaged_since = kNever;   // When as many as the job needs had found that one damaged, and nobody had it whole.
  std::string told_missing;        // The one of which an event has told that it cannot be restored.
  double look_again_at = -kNever;  // When trainers that differ in what they compute with start anew.
  std::string told_groups;         // In what they differ, as an event has told.
};

// A fault whose pause is not known yet.
struct OpenFault {
  int index = 0;                 // In status.faults.
  double completed_at = 0;       // Last completion before.
  std::set<std::string> silent;  // Trainers judged dead by silence: their agent may still correct the verdict.
};

// Pool as nodes name it -> how many nodes of it, in parts by slots.
using Shares = std::map<std::string, double>;

// What a job is to have in a pool that takes orders: one slot.
struct Unit {
  std::string pool;
  double since = -kNever;  // When it was asked for; not known of those from before a restart.
  bool placed = false;     // A node is there for it ...
  bool arrived = false;    // ... with a trainer that can join ...
  bool working = false;    // ... and has made a step.
  std::string leaving;     // The pool where the job keeps a slot until this one has arrived.
  std::string last_pool;   // Where it was interrupted.
};

// A machine of such a pool, from when it runs.
struct WatchedMachine {
  v1::PoolRecord::Machine record;
  double seen = 0;          // When this process first heard of it.
  bool registered = false;  // Its node has, so that it is not in the pool's record any more.
};

// A pool whose nodes come by orders.
struct PoolState {
  v1::PoolRecord record;  // But for its machines.
  bool must_save = false;
  std::map<std::string, WatchedMachine> machines;  // By the provider's id: those that run and have a name.
  bool listed = false;                             // Its provider has said what runs.
  double not_ours_since = kNever;                  // Machines run there that this cluster has not ordered; see Surplus.
  bool told_not_ours = false;
  double unnamed_since = kNever;  // Nodes of it are none of those that its provider names ...
  bool told_unnamed = false;      // ... and that was told.
  PoolOrder told;
  bool is_told = false;
  PoolReported reported;
  bool avoided = false;
  bool given_up = false;  // Avoided because what it says it runs has not come.
  double avoid_until = -kNever;
  double avoid_seconds = 0;     // Of the last time; 0 again once an order was fulfilled.
  double short_since = kNever;  // Since when what is ordered does not come.
  int short_at = 0;             // With so many nodes there.
};

// What the last planning cycle knew of a job, a node: another cycle is due when it is not true any more.
struct JobFacts {
  bool wants = false;
  bool runs = false;
  bool released = false;
  bool paused = false;
  bool halted = false;
  int min = 0;
  int max = 0;
  int generation = 0;
  int deaths = 0;
  int first_epoch = 0;
  int arrived = 0;
  int working = 0;
  int room = 0;
  bool operator==(const JobFacts&) const = default;
};
struct NodeFacts {
  bool usable = false;
  bool hinted = false;
  int slots = 0;
  int64_t charged_as = 0;
  size_t device = 0;
  bool operator==(const NodeFacts&) const = default;
};

struct SpeedMean {
  double samples = 0;  // A second.
  double at = 0;
  int count = 0;
};

// Changes of one kind since an event told of them; see flapping.h.
struct Flapping {
  double told_at = -kNever;
  int changes = 0;
  std::string kind, text, node;  // Of the event that the newest of them would have been.
};

// What a job has cost since its last step ended, or since its members were put together.
struct SinceStep {
  double hours = 0;
  double spent = 0;
  double node_hours = 0;  // Of nodes that have a price.
};

// A part of a node that a job is charged for.
struct ChargedAs {
  int64_t as = 0;  // NodeState::charged_as.
  double part = 0;
};

struct Job {
  v1::JobRecord record;
  mutable uint64_t spec_hash = 0;  // Of the resolved spec, once asked for; see MutableSpec.
  std::map<std::string, Trainer> trainers;
  std::set<std::string> ahead;                // Trainers in a generation above the record's; see adoption.h.
  double ahead_since = kNever;                // The first of them was heard.
  std::set<std::string> past;                 // Those in one that an earlier epoch's coordinator formed beside it.
  Recent<std::string> refused{kMaxTrainers};  // Trainer -> error.
  RecentNames told{kMaxTold};                 // Refusals and skipped checkpoints already told in an event.

  bool precision_settled = false;  // The resolved precision was held against the nodes' devices.

  bool active = false;       // The newest membership is announced to run; else `forming` says what is awaited.
  std::string runs_because;  // Where that is not the membership's own reason.
  Forming forming;
  bool yielding = false;  // Members are told to stop at the next boundary.
  std::string yield_reason;
  bool yield_checkpoint = false;
  double yield_within_seconds = 0;  // For that checkpoint; 0: no limit.
  bool save_tried = false;          // All members must leave, and their last generation was to save the state.
  int saves_failed = 0;             // In a row, of those before all members' nodes may go.
  double save_again_at = -kNever;   // Not before that they stop for another.
  double save_told_at = -kNever;
  double ready_since = kNever;  // First READY trainer of a cold start.

  std::string silence;            // This was told as nobody of its newest generation was heard of. Empty: some are.
  double heard_again = -kNever;   // After that the first of them was: the others have their time from then.
  double ask_lease_at = -kNever;  // Not before that whether their lease has ended.

  double formed_at = -kNever;
  int formed_step = 0;
  int completed_step = 0;         // As members have told; status.step may be of a newer checkpoint.
  double completed_at = -kNever;  // When that last rose.
  std::vector<OpenFault> open_faults;
  Recent<int> start_failures{kMaxTrainers};      // "<node>/<slot>" -> deaths in a row without a step.
  std::map<std::string, double> excluded_until;  // Node -> time. Mirrors record.suspicions.

  // "<node>/<slot>" -> why it is given up: what runs there leaves at a step boundary.
  std::map<std::string, std::string> giving;
  bool saved_before_stop = false;  // It is to stop, and those that had stopped within a step have gone on to save it.
  double halted_at = -kNever;
  // "<node>/<slot>" where the newest trainer has other data or arithmetic than the job.
  RecentNames unfit{kMaxTrainers};
  JobFacts planned_as;
  std::map<std::string, SpeedMean> speeds;  // By kind of machine: newer than record.speeds.
  Flapping ranges_told, stragglers_told;
  std::vector<Unit> units;
  scheduler::JobView view;  // Of its planner: what it has learned, and what it was shown last.
  std::vector<std::string> view_pools;
  std::shared_ptr<scheduler::PlanMemory> memory;  // Copies may share it: no answer depends on it.
  std::string moves_because;                      // What its planner said last.
  std::string waits_for;         // What the planner says of a job that has no room; empty: no more than that.
  bool waits_for_hours = false;  // Its planner lets better hours come, and that was told.

  std::vector<ChargedAs>
      charged_for;  // What the record says that it holds, and nothing else; empty: that is not known.
  Shares shares;    // What it holds, and what of that is lost; see charged_nodes.h.
  Shares lost_shares;
  bool rate_is_old = false;        // Prices have changed since the status was told the rate.
  int budget_room = kMaxTrainers;  // For so many more slots; see spending.h.
  int held_and_ended = 0;          // Of its nodes: those that have ended by themselves, and whose slots it has still.
  double counted_until = 0;        // Unix time up to which its costs are in the status.
  SinceStep since_step;
  double cost_told_at = -kNever;
  double usual_since = kNever;  // After an alert about the rate: since when it is usual again.

  bool must_save = false;       // A part that must be durable changed.
  bool status_changed = false;  // Watchers want to know; saved at most once a second.
  double saved_at = -kNever;
  double wake_at = kNever;
};

// A job that lives, and of which there is no record; found.h.
struct FoundJob {
  v1::JobRecord record;  // What is shown; with spec and secret once an agent has told them.
  std::map<std::string, v1::TrainerReport> trainers;     // The newest of each that runs.
  std::map<std::string, double> heard;                   // When they spoke last.
  std::map<std::string, std::set<std::string>> running;  // By node: trainers that its agent lists.
  std::string stored;                                    // Why what its store has of it does not settle whose it is.
  bool told = false;                                     // In an event.
  double nothing_since = kNever;                         // Nothing of it was seen to run since; see forgetting.h.
};

// Another machine that reports under a node's name.
struct NameClaim {
  std::string machine;    // Told apart by this; its agent may be another meanwhile.
  std::string agent;      // Incarnation of the one that spoke last.
  bool recorded = false;  // It has the node's incarnation: the same disk after a restart, or a copy of it.
  std::string where;      // For messages.
  double since = kNever;  // When it was opened; never: it has not reported anything fit.
  double again =
      kNever;  // When it spoke next: the node was asked by then, and these are not the last words of the dead.
  double heard = 0;
  bool answered = false;  // The node has spoken since.
  std::string refusal;    // Why it must wait; empty: it is not decided whether the one before it lives.
  std::string error;      // What is wrong with its report.
};

// What every planning cycle reads of each node stands first and together: 10,000 of them are more than the caches hold.
struct NodeState {
  bool reported = false;
  bool lost = false;
  bool overdue = false;  // It drains, and its deadline has passed.
  bool must_save = false;
  bool ended = false;  // Its machine has, as its provider or its operator says, and was not heard of since.
  int probe = 0;
  int64_t charged_as = 0;  // Another for each node, and each time that its incarnation, pool or slots change.
  size_t pool = 0;         // Hash of the pool's name in its record.
  size_t device = 0;       // Hash of the kind of device that it reports.
  NodeFacts planned_as;
  std::map<int, std::string> slots;  // Slot -> job uid it serves.
  std::string error;
  v1::NodeRecord record;
  v1::NodeReport report;
  double heard = -kNever;
  double known_since = 0;
  double lost_since = kNever;  // Mirrors record.silent_since; see forgetting.h.
  double drain_deadline = kNever;
  double asked_at = -kNever;      // It was first probed then without an answer since; before `heard`: it answered.
  double idle_since = kNever;     // A node that was ordered serves nobody since then.
  std::vector<NameClaim> claims;  // There are few, see name_claims.cc.
  RecentNames past_agents{kMaxPastAgents};  // Reports of these earlier agents of its folder are stale.
};

// Does that slot of the node serve the job?
bool Serves(const NodeState& node, int slot, const Job& job);

// What events since the last Cluster::Settle concerned.
struct Unsettled {
  bool all = false;
  bool watch = false;  // What is known of nodes has changed, or is to be looked at.
  bool pools = false;  // A pool was heard of. Else a cycle alone changes them, which concerns all.
  std::set<std::string> jobs;
  std::set<std::string> nodes;
};

// What was found of all jobs and nodes when any of them changed last.
struct Surroundings {
  v1::NodeDirective told;  // To all nodes alike: peers and live jobs.
  uint64_t hash = 0;       // Of that.
  size_t jobs = 0, active = 0;
};

// What arrived before decisions began.
struct Listening {
  bool on = false;
  std::map<std::string, Event> reports;  // The newest of each trainer and agent; nodes come before trainers.
  std::vector<Event> others;
};

struct State {
  Tunables tunables;
  std::string cluster;
  Epoch epoch;
  Listening listening;
  PriceBook prices;
  CarbonBook carbon;
  std::set<std::string> carbon_missed;     // Regions of pools of which was told that nothing is known now.
  std::map<std::string, PoolState> pools;  // Those that take orders.
  scheduler::Recovery recovery;            // How long starts of ordered nodes took.
  double started = 0;
  double wall_offset = 0;
  bool restarted = false;                     // Restored brought records: nobody is silent before reconnect_seconds.
  std::map<std::string, Job> jobs;            // By uid.
  std::vector<std::string> order;             // Uids in order of submission.
  std::map<std::string, FoundJob> found;      // By uid.
  std::map<std::string, std::string> newest;  // Name -> uid: names are free again when a job is over.
  std::map<std::string, NodeState> nodes;
  int64_t last_charged_as = 0;
  bool any_lost = false;
  Unsettled unsettled;
  Surroundings surroundings;
  std::vector<v1::SoughtTrainer> sought;  // There are few, and most of the time none.
  std::set<std::string> doubted;          // Nodes of which providers are to say whether their machines have ended.
  double jobs_wake_at = kNever;           // Not later than the first wake_at of all jobs.
  double watch_nodes_at = -kNever;        // When a node may count as lost, or its drain as overdue.
  double forget_at = -kNever;             // When a job or a node may be past the time for which it is kept.
  bool plan_due = true;
  double plan_at = kNever;  // The next planning cycle, if nothing happens before.
  double planned_at = -kNever;
};

// One Step in progress: where effects go.
struct Turn {
  State& state;
  Effects& effects;
  double now;

  void Emit(const Job* job, const std::string& kind, const std::string& text, const std::string& node = "");
  // Asks for another look at `job` no later than `when`.
  void Wake(Job& job, double when) const;
};

// Facts every part asks for.
const v1::JobSpec& SpecOf(const Job& job);
v1::JobSpec* MutableSpec(Job& job);  // For every change of it.
int MicroBatches(const Job& job);
int MostRanks(const Job& job);  // Of one generation: each has a micro-batch, and common::kMaxWorldSize is the most.
// Not yet two steps on its one first worker, and the spec wants those before any other is started.
bool IsSmokeTest(const Job& job);
int MinWorkers(const Job& job);
// At most MostRanks; one in the smoke test. While it is finishing both are as many as have the state together.
int MaxWorkers(const Job& job);
bool IsOver(const Job& job);
bool IsFinishing(const Job& job);  // All steps are made, and members keep the final state until it is durable.
bool IsHeldBack(const Job& job);   // Its user or its budget wants it paused, or its trainers of before are awaited.
bool MustStop(const Job& job);     // Its user, its budget or the planner wants it to stop.
double PollSeconds(int wait_ms);   // How long a long poll may keep quiet, whatever was asked for.
const v1::Member* FindMember(const Job& job, const std::string& trainer);
const Trainer* FindTrainer(const Job& job, const std::string& trainer);
bool IsDraining(const State& state, const std::string& node);
// Is that trainer to leave at the next boundary, with its node or alone?
bool MustLeave(const State& state, const Job& job, const std::string& trainer);
// "node n2 drains: asked by the user"; REQUIRES: it must leave.
std::string WhyItLeaves(const State& state, const Job& job, const std::string& trainer);
// Those that trainers of such a job may be placed on, by name, with what they compute on.
std::vector<std::pair<std::string, v1::Device>> UsableNodes(const State& state, const v1::JobSpec& spec);
// Members are shown while they compute or keep a final state, and not in any other state.
void SetState(Job& job, v1::JobState state, const std::string& reason);
void Touch(Job& job);  // Status changed.

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_STATE_H_
