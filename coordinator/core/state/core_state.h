// Defines `State`, which holds all that the coordinator's core knows, and `Turn`, which is one step in progress. They
// are plain copyable values without behaviour. Every function of the core takes explicitly what it needs of them.
#ifndef REKINDLE_COORDINATOR_CORE_STATE_CORE_STATE_H_
#define REKINDLE_COORDINATOR_CORE_STATE_CORE_STATE_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/core/state/events.h"
#include "coordinator/core/state/found_job.h"
#include "coordinator/core/state/job.h"
#include "coordinator/core/state/node_state.h"
#include "coordinator/core/state/pool_state.h"
#include "coordinator/scheduler/cycle.h"

namespace rekindle::core {

// Holds which jobs, nodes and pools the events since the last `Cluster::Settle` concerned.
struct Unsettled {
  bool all = false;
  // `watch` says that what the core knows of nodes has changed, or that the nodes have to be looked at.
  bool watch = false;
  // `pools` says that a provider has reported on a pool. Nothing else changes pools but a planning cycle, after which
  // the records of all pools are collected anyway.
  bool pools = false;
  std::set<std::string> jobs;
  std::set<std::string> nodes;
};

// Holds what the core computed from all jobs and nodes together when any of them changed last.
struct Surroundings {
  // `told` holds what all nodes are told alike: their peers and the live jobs.
  v1::NodeDirective told;
  // `hash` is the hash of what all nodes are told alike. The revision of each node's directive is computed from it.
  uint64_t hash = 0;
  size_t jobs = 0, active = 0;
};

// Holds the events that arrived while a restarted coordinator only listened and decided nothing yet.
struct Listening {
  bool on = false;
  // `reports` holds the newest report of each trainer and agent. Reports of nodes come before those of trainers.
  std::map<std::string, Event> reports;
  std::vector<Event> others;
};

struct State {
  Tunables tunables;
  std::string cluster;
  Epoch epoch;
  Listening listening;
  PriceBook prices;
  CarbonBook carbon;
  // `carbon_missed` holds the regions of which events have said that their carbon intensity is not known.
  std::set<std::string> carbon_missed;
  // `pools` holds only the pools that take orders for nodes.
  std::map<std::string, PoolState> pools;
  // `recovery` holds how long the starts of ordered nodes took.
  scheduler::Recovery recovery;
  double started = 0;
  double wall_offset = 0;
  // `restarted` says that the coordinator started with the records of an earlier process. No member counts as silent
  // before `Tunables::reconnect_seconds` have passed.
  bool restarted = false;
  // The keys of `jobs` are uids.
  std::map<std::string, Job> jobs;
  // `order` holds the uids of all jobs in order of submission.
  std::vector<std::string> order;
  // The keys of `found` are uids of jobs.
  std::map<std::string, FoundJob> found;
  // `newest` maps names of jobs to uids. The name of a job is free again when the job is over.
  std::map<std::string, std::string> newest;
  std::map<std::string, NodeState> nodes;
  int64_t last_charged_as = 0;
  // `gave_up` maps each node of the `given_up_nodes` of jobs' records to the uids of these jobs.
  std::map<std::string, std::set<std::string>> gave_up;
  bool any_lost = false;
  Unsettled unsettled;
  Surroundings surroundings;
  // `sought` holds the missing trainers that agents have to look for. There are few, and most of the time none.
  std::vector<v1::SoughtTrainer> sought;
  // `start_troubles` holds the nodes whose reports name jobs of which they cannot start a trainer. There are few.
  std::set<std::string> start_troubles;
  // `doubted` holds nodes of which the providers have to say whether their machines have ended.
  std::set<std::string> doubted;
  // `jobs_wake_at` is not later than the earliest `Job::wake_at` of all jobs.
  double jobs_wake_at = kNever;
  // `watch_nodes_at` is when a node may next count as lost, or its drain as overdue.
  double watch_nodes_at = -kNever;
  // `forget_at` is when a job or a node may next have to be forgotten.
  double forget_at = -kNever;
  bool plan_due = true;
  // `plan_at` is when the next planning cycle comes if nothing happens before.
  double plan_at = kNever;
  double planned_at = -kNever;
};

// Represents one `Cluster::Step` in progress, and collects its effects.
struct Turn {
  State& state;
  Effects& effects;
  double now;

  void Emit(const Job* job, const std::string& kind, const std::string& text, const std::string& node = "");
  // Asks for another look at `job` no later than `when`.
  void Wake(Job& job, double when) const;
  // Marks a record that has changed in a part that must be durable before anybody sees an effect of the step.
  void Save(Job& job) const { job.must_save.is_set_ = true; }
  void Save(NodeState& node) const { node.must_save.is_set_ = true; }
  void Save(PoolState& pool) const { pool.must_save.is_set_ = true; }
  // Marks a job whose status has changed in a part that watchers want to know of. The status is saved at most once a
  // second.
  void Changed(Job& job) const { job.status_changed.is_set_ = true; }
  // Makes a planning cycle due, because something has changed that the planner must see. The cycle comes in the step in
  // progress, or a little later where a large cluster had one just before.
  void Replan() const { state.plan_due = true; }
  // Clears `must_save` and `status_changed` of a job whose record is saved.
  void ClearMarks(Job& job) const { job.must_save.is_set_ = job.status_changed.is_set_ = false; }
  // Returns whether the record must be saved, and clears the mark that says so.
  bool TakeSaveMark(NodeState& node) const { return std::exchange(node.must_save.is_set_, false); }
  bool TakeSaveMark(PoolState& pool) const { return std::exchange(pool.must_save.is_set_, false); }
};

// Returns for how many seconds a long poll that asks for `wait_ms` may stay without an answer. The result is limited,
// whatever the caller asks for.
double PollSeconds(int wait_ms);
bool IsDraining(const State& state, const std::string& node);
// Returns whether the trainer has to leave at the next step boundary, with its node or alone.
bool MustLeave(const State& state, const Job& job, const std::string& trainer);
// Returns why the trainer must leave, in words such as "node n2 drains: asked by the user". REQUIRES: the trainer must
// leave.
std::string WhyItLeaves(const State& state, const Job& job, const std::string& trainer);
// Returns the nodes on which trainers of a job with that spec may be placed, by name, each with its device.
std::vector<std::pair<std::string, v1::Device>> UsableNodes(const State& state, const v1::JobSpec& spec);
// Sets the state of a job and its reason. Shows members only while they compute or keep a final state. Returns whether
// the state or the reason has changed. If so, `JobRecord.decided` does not note any more that the status says that the
// job has stopped, or that it was brought back. A caller whose reason says so notes it again.
bool SetState(const Turn& turn, Job& job, v1::JobState state, const std::string& reason);
double UnixNow(const Turn& turn);
// Converts Unix time to the steady clock of `turn.now`.
double AtUnix(const Turn& turn, double unix_time);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_STATE_CORE_STATE_H_
