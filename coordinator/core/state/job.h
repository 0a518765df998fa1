// Defines what the core knows of a job: its record, and what was learned from reports since the start.
#ifndef REKINDLE_COORDINATOR_CORE_STATE_JOB_H_
#define REKINDLE_COORDINATOR_CORE_STATE_JOB_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/core/state/mark.h"
#include "coordinator/core/state/recent.h"
#include "coordinator/core/state/trainer.h"
#include "coordinator/scheduler/cycle.h"
#include "rekindle/v1/job.pb.h"
#include "rekindle/v1/store.pb.h"

namespace rekindle::core {

// The note that the smoke test has passed has this name.
inline constexpr char kSmokeTest[] = "smoke_test";
// A job's events remember at most this many things that they have told.
inline constexpr size_t kMaxTold = 4096;

// Maps pools, as nodes name them, to numbers of their nodes. A slot counts as a part of a node.
using Shares = std::map<std::string, double>;

// Describes a change of membership that is under way or waits for workers. It is examined anew at every event.
struct Forming {
  double since = 0;
  // Trainers that wait are shown the reason.
  std::string reason;
  // The reason is only that the coordinator was restarted, which does not say why the job goes on.
  bool restarted = false;
  // Evidence of a failure opened the change, not an agreed boundary or a cold start.
  bool failure = false;
  // The accusations of this failure are counted in `Suspicions` already.
  bool pairs_counted = false;
  // This trainer is taken out, because two ranks cannot work together.
  std::string removed;
  std::string removed_reason;
  // The last step before the change was completed at this time.
  double completed_at = -kNever;
  // Trainers have to look for this manifest. Empty means none.
  std::string find;
  // Somebody has read damaged bytes of the manifest `find`.
  bool verify = false;
  // Since this time as many trainers as the job needs have found `find` damaged, and nobody has it whole.
  double damaged_since = kNever;
  // An event has told that this manifest cannot be restored.
  std::string told_missing;
  // Trainers that differ in what they compute with start anew at this time.
  double look_again_at = -kNever;
  // An event has told that the trainers differ in this.
  std::string told_groups;

  // Sets the reason where the job itself gives another one.
  void SetReason(std::string why) {
    reason = std::move(why);
    restarted = false;
  }
};

// Describes a fault whose pause is not known yet.
struct OpenFault {
  // The fault has this index in `status.faults`.
  int index = 0;
  // The last step before the fault was completed at this time.
  double completed_at = 0;
  // These trainers were judged dead by silence. Their agent may correct that.
  std::set<std::string> silent;
};

// Describes one slot that a job is to have in a pool that takes orders.
struct Unit {
  std::string pool;
  // The slot was asked for at this time. A restart forgets this.
  double since = -kNever;
  // A node is there for the slot.
  bool placed = false;
  // A trainer that can join is on the slot's node.
  bool arrived = false;
  // The slot's trainer has made a step.
  bool working = false;
  // The job keeps a slot in this pool until the new slot has arrived.
  std::string leaving;
  // The slot was interrupted in this pool.
  std::string last_pool;
};

// Holds what the last planning cycle knew of a job. Another cycle is due when it has changed.
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

struct SpeedMean {
  double samples = 0;  // Samples a second.
  double at = 0;
  int count = 0;
};

// Counts changes of one kind since an event told of them (flapping.h).
struct Flapping {
  double told_at = -kNever;
  int changes = 0;
  // The event of the newest change would say this.
  std::string kind, text, node;
};

// Sums what a job has cost since its last step ended, or since its members were put together.
struct SinceStep {
  double hours = 0;
  double spent = 0;
  // Only nodes that have a price count.
  double node_hours = 0;
};

// Describes a part of a node that a job is charged for.
struct ChargedAs {
  // This is the node's `NodeState::charged_as`.
  int64_t as = 0;
  double part = 0;
};

// Holds how the job comes from one generation to the next (regroup.h, next_generation.h).
struct Regroup {
  Forming forming;
  // Members are told to stop at the next boundary.
  bool yielding = false;
  std::string yield_reason;
  // They are told so because a node drains, among other things.
  bool yields_for_drain = false;
  bool yield_checkpoint = false;
  // Seconds for the checkpoint. 0 means no limit.
  double yield_within_seconds = 0;
  // All members must leave, and their last generation was to save the state.
  bool save_tried = false;
  // This many saves failed in a row before all members' nodes may go.
  int saves_failed = 0;
  // Members stop for another save no earlier than this.
  double save_again_at = -kNever;
  double save_told_at = -kNever;
  // A cold start has had enough READY trainers since this time.
  double ready_since = kNever;
  // An event told this when all members fell silent. Empty means that some are heard.
  std::string silence;
  // The first member was heard at this time after all had fallen silent. The others have their time from then.
  double heard_again = -kNever;
  // Nobody asks before this time whether the silent members' lease has ended.
  double ask_lease_at = -kNever;

  void SetYieldReason(std::string why, bool for_drain = false) {
    yield_reason = std::move(why);
    yields_for_drain = for_drain;
  }
};

// Holds which nodes the job is to have, as its planner decided, and what the planner has to remember (planning.h).
struct Wishes {
  std::vector<Unit> units;
  // The job's planner has learned this, or was shown it last.
  scheduler::JobView view;
  std::vector<std::string> view_pools;
  // Copies may share it, because no answer depends on it.
  std::shared_ptr<scheduler::PlanMemory> memory;
  // The job's planner last said this.
  std::string moves_because;
  // This says why the job has no room, if the planner says more.
  std::string waits_for;
  // The planner lets better hours come, and that was told.
  bool waits_for_hours = false;
  JobFacts planned_as;
};

// Holds what the job is charged for, and how far that is in its status (charged_nodes.h, costs.h).
struct JobAccount {
  // The job holds just these parts of nodes, as its record says. An empty list means that this is not known.
  std::vector<ChargedAs> charged_for;
  // The job is charged for these, of which `lost_shares` are lost (charged_nodes.h).
  Shares shares;
  Shares lost_shares;
  // Prices have changed since the status got its rate.
  bool rate_is_old = false;
  // The job's budget has room for this many more slots (spending.h).
  int budget_room = kMaxTrainers;
  // This many nodes ended by themselves, and the job still has their slots.
  int held_and_ended = 0;
  // The job's costs are in the status up to this Unix time.
  double counted_until = 0;
  SinceStep since_step;
  double cost_told_at = -kNever;
  // After an alert about the rate, the rate has been usual again since this time.
  double usual_since = kNever;
};

struct Job {
  v1::JobRecord record;
  // The hash is 0 until the resolved spec's hash is asked for (see MutableSpec).
  mutable uint64_t spec_hash = 0;
  std::map<std::string, Trainer> trainers;
  // These trainers are in a generation above the record's (adoption.h).
  std::set<std::string> ahead;
  // The first trainer of `ahead` was heard at this time.
  double ahead_since = kNever;
  // Their generation was formed in an earlier epoch, beside the record's.
  std::set<std::string> past;
  // Maps refused trainers to errors.
  Recent<std::string> refused{kMaxTrainers};
  // Events have told of these refusals and skipped checkpoints.
  RecentNames told{kMaxTold};
  // The resolved precision was checked against the nodes' devices.
  bool precision_checked = false;
  // The newest membership is announced to run. If not, `forming` says what is awaited.
  bool active = false;
  // The job runs for this reason. Empty means the membership's own reason.
  std::string runs_because;
  double formed_at = -kNever;
  int formed_step = 0;
  // Members have told this step. `status.step` may be of a newer checkpoint.
  int completed_step = 0;
  // `completed_step` last rose at this time.
  double completed_at = -kNever;
  std::vector<OpenFault> open_faults;
  // Maps "<node>/<slot>" to deaths in a row without a step.
  Recent<int> start_failures{kMaxTrainers};
  // Maps nodes to times, as record.suspicions does.
  std::map<std::string, double> excluded_until;
  // Maps "<node>/<slot>" to why it is given up. What runs there leaves at a step boundary.
  std::map<std::string, std::string> giving_up;
  // The job has to stop, and members that stopped within a step went on to save.
  bool saved_before_stop = false;
  double halted_at = -kNever;
  // Holds each "<node>/<slot>" whose newest trainer has other data or arithmetic than the job.
  RecentNames unfit{kMaxTrainers};
  // Maps kinds of machine to speeds that are newer than record.speeds.
  std::map<std::string, SpeedMean> speeds;
  Flapping ranges_told, stragglers_told;
  // A part that must be durable has changed.
  DirtyMark must_save;
  // Watchers want to know of this. The status is saved at most once a second.
  DirtyMark status_changed;
  double saved_at = -kNever;
  double wake_at = kNever;
  Regroup regroup;
  Wishes wishes;
  JobAccount account;
};

// These are facts that every part asks for.
const v1::JobSpec& SpecOf(const Job& job);
// Returns the resolved spec. Every change of it must go through this, which resets `Job::spec_hash`.
v1::JobSpec* MutableSpec(Job& job);
int MicroBatches(const Job& job);
// Returns the most ranks of one generation. Each needs a micro-batch, and common::kMaxWorldSize is the limit.
int MostRanks(const Job& job);
// Returns whether two steps on one first worker are wanted before any other is started, and are not made yet.
bool IsSmokeTest(const Job& job);
int MinWorkers(const Job& job);
// Returns at most MostRanks, and one in the smoke test. While the job is finishing, this and MinWorkers are the number
// of ranks that have the state together.
int MaxWorkers(const Job& job);
bool IsOver(const Job& job);
// Returns whether all steps are made, and members keep the final state until it is durable.
bool IsFinishing(const Job& job);
// Returns whether the job's user or budget wants it paused, or trainers from before are awaited.
bool IsHeldBack(const Job& job);
// Returns whether the job's user, its budget or the planner wants it to stop.
bool MustStop(const Job& job);
const v1::Member* FindMember(const Job& job, const std::string& trainer);
const Trainer* FindTrainer(const Job& job, const std::string& trainer);
// Returns a number above all that are known: of the record, of the store, and of every trainer heard of.
int NextGeneration(const Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_STATE_JOB_H_
