// Defines all that the core knows, and one step in progress. These are plain copyable values without behaviour. Every
// function of the core takes them explicitly.
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

// Says what the events since the last Cluster::Settle concerned.
struct Unsettled {
  bool all = false;
  // What is known of nodes has changed, or has to be looked at.
  bool watch = false;
  // A pool was heard of. Otherwise only a cycle changes pools, and that concerns all.
  bool pools = false;
  std::set<std::string> jobs;
  std::set<std::string> nodes;
};

// Holds what was found of all jobs and nodes when any of them changed last.
struct Surroundings {
  // All nodes are told this alike: peers and live jobs.
  v1::NodeDirective told;
  // This is the hash of `told`.
  uint64_t hash = 0;
  size_t jobs = 0, active = 0;
};

// Holds what arrived before decisions began.
struct Listening {
  bool on = false;
  // `reports` holds the newest report of each trainer and agent. Nodes come before trainers.
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
  // Events have told that nothing is known of these regions.
  std::set<std::string> carbon_missed;
  // Only pools that take orders are here.
  std::map<std::string, PoolState> pools;
  // This holds how long starts of ordered nodes took.
  scheduler::Recovery recovery;
  double started = 0;
  double wall_offset = 0;
  // Records were restored. Nobody is silent before reconnect_seconds.
  bool restarted = false;
  // The keys are uids.
  std::map<std::string, Job> jobs;
  // The uids are in order of submission.
  std::vector<std::string> order;
  // The keys are uids.
  std::map<std::string, FoundJob> found;
  // Maps names to uids. Names are free again when a job is over.
  std::map<std::string, std::string> newest;
  std::map<std::string, NodeState> nodes;
  int64_t last_charged_as = 0;
  bool any_lost = false;
  Unsettled unsettled;
  Surroundings surroundings;
  // There are few of these, and most of the time none.
  std::vector<v1::SoughtTrainer> sought;
  // Providers have to say whether the machines of these nodes have ended.
  std::set<std::string> doubted;
  // This is not later than the first wake_at of all jobs.
  double jobs_wake_at = kNever;
  // A node may count as lost at this time, or its drain as overdue.
  double watch_nodes_at = -kNever;
  // A job or a node may have to be forgotten at this time.
  double forget_at = -kNever;
  bool plan_due = true;
  // The next planning cycle comes at this time, if nothing happens before.
  double plan_at = kNever;
  double planned_at = -kNever;
};

// Represents one Step in progress, and collects its effects.
struct Turn {
  State& state;
  Effects& effects;
  double now;

  void Emit(const Job* job, const std::string& kind, const std::string& text, const std::string& node = "");
  // Asks for another look at `job` no later than `when`.
  void Wake(Job& job, double when) const;
  // The record changed in a part that must be durable before anybody sees an effect of this step.
  void Save(Job& job) const { job.must_save.is_set_ = true; }
  void Save(NodeState& node) const { node.must_save.is_set_ = true; }
  void Save(PoolState& pool) const { pool.must_save.is_set_ = true; }
  // The status of the job changed in a part that watchers want to know of. It is saved at most once a second.
  void Changed(Job& job) const { job.status_changed.is_set_ = true; }
  // Something changed that the next planning cycle must see. The cycle comes in this step.
  void Replan() const { state.plan_due = true; }
  // Clears the marks of a job whose record is saved.
  void ClearMarks(Job& job) const { job.must_save.is_set_ = job.status_changed.is_set_ = false; }
  // Returns whether the record must be saved, and clears that mark.
  bool TakeSaveMark(NodeState& node) const { return std::exchange(node.must_save.is_set_, false); }
  bool TakeSaveMark(PoolState& pool) const { return std::exchange(pool.must_save.is_set_, false); }
};

// Returns for how many seconds a long poll may keep quiet, whatever was asked for.
double PollSeconds(int wait_ms);
bool IsDraining(const State& state, const std::string& node);
// Returns whether that trainer has to leave at the next boundary, with its node or alone.
bool MustLeave(const State& state, const Job& job, const std::string& trainer);
// Returns words such as "node n2 drains: asked by the user". REQUIRES: the trainer must leave.
std::string WhyItLeaves(const State& state, const Job& job, const std::string& trainer);
// Returns the nodes that trainers of such a job may be placed on, by name, with what they compute on.
std::vector<std::pair<std::string, v1::Device>> UsableNodes(const State& state, const v1::JobSpec& spec);
// Sets the state of a job and its reason. Members are shown only while they compute or keep a final state. Returns
// whether the state or the reason has changed. If so, the status says neither that the job has stopped nor that it was
// brought back, unless the caller notes that in `JobRecord.decided`.
bool SetState(const Turn& turn, Job& job, v1::JobState state, const std::string& reason);
double UnixNow(const Turn& turn);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_STATE_CORE_STATE_H_
