// Defines what the core knows of a job: its record, and what was learned from reports since the coordinator started.
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

// `kSmokeTest` is the name of the note which says that a job has passed its smoke test.
inline constexpr char kSmokeTest[] = "smoke_test";
// A job remembers at most this many things that its events have told.
inline constexpr size_t kMaxTold = 4096;

// Maps pools, by the names that nodes give, to numbers of nodes. A slot counts as a part of a node.
using Shares = std::map<std::string, double>;

// Describes a change of membership that is under way or waits for workers. It is examined anew at every event.
struct Forming {
  double since = 0;
  // `reason` says why the membership changes. Trainers that wait are shown it.
  std::string reason;
  // `restarted` says that `reason` is only the restart of the coordinator, which does not explain why the job goes on.
  bool restarted = false;
  // `failure` says that evidence of a failure opened the change, not an agreed boundary or a cold start.
  bool failure = false;
  // `pairs_counted` says that what the members accuse each other of in this failure is counted in `Suspicions` already.
  bool pairs_counted = false;
  // `removed` is the trainer that is taken out because two ranks cannot work together.
  std::string removed;
  std::string removed_reason;
  // `completed_at` is when the last step before the change was completed.
  double completed_at = -kNever;
  // `find` is the manifest of the checkpoint that trainers have to look for. Empty means none.
  std::string find;
  // `verify` says that a trainer has read damaged bytes of the checkpoint `find`, so that the others read every byte.
  bool verify = false;
  // `damaged_since` is since when as many trainers as the job needs have found the checkpoint `find` damaged, and none
  // has it whole.
  double damaged_since = kNever;
  // `told_missing` is the manifest of the checkpoint of which an event has told that it cannot be restored.
  std::string told_missing;
  // `look_again_at` is when trainers that differ in their data or arithmetic start anew.
  double look_again_at = -kNever;
  // `told_groups` is what an event has told of how the trainers' data or arithmetic differ.
  std::string told_groups;

  // Sets a reason for the change of membership that comes from the job itself, not from a restart of the coordinator.
  void SetReason(std::string why) {
    reason = std::move(why);
    restarted = false;
  }
};

// Describes a fault of which it is not known yet for how long it has paused the training.
struct OpenFault {
  // `index` is the index of the fault in `status.faults`.
  int index = 0;
  // `completed_at` is when the last step before the fault was completed.
  double completed_at = 0;
  // `silent` holds the trainers that were judged dead by silence. Their agent may correct that.
  std::set<std::string> silent;
};

// Describes one slot that a job is to have in a pool that takes orders.
struct Unit {
  std::string pool;
  // `since` is when the slot was asked for. A restart forgets it.
  double since = -kNever;
  // `placed` says that a node is there for the slot.
  bool placed = false;
  // `arrived` says that a trainer that can join is on the slot's node.
  bool arrived = false;
  // `working` says that the slot's trainer has made a step.
  bool working = false;
  // `leaving` is the pool in which the job keeps a slot until the new slot has arrived.
  std::string leaving;
  // `last_pool` is the pool in which the slot was interrupted.
  std::string last_pool;
};

// Holds what the last planning cycle knew of a job. Another cycle is due when any of it has changed.
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

// Holds what decides for how many more slots a budget has room (spending.h).
struct RoomFacts {
  Shares shares, lost_shares;
  double granted_until = 0;
  double budget = 0;
  // `rate` is what the job's living nodes cost an hour, and `price` is that of one more slot.
  double rate = 0;
  double price = 0;
  bool finishing = false;
  bool operator==(const RoomFacts&) const = default;
};

struct SpeedMean {
  // `samples` is a mean speed in samples per second.
  double samples = 0;
  double at = 0;
  int count = 0;
};

// Counts the changes of one kind, such as new ranges, since the last event that told of them (flapping.h).
struct Flapping {
  double told_at = -kNever;
  int changes = 0;
  // `kind`, `text` and `node` are those that the event of the newest change would have.
  std::string kind, text, node;
};

// Sums what a job has cost since its last step ended, or since its members were put together.
struct SinceStep {
  double hours = 0;
  double spent = 0;
  // `node_hours` counts only nodes that have a price.
  double node_hours = 0;
};

// Describes a part of a node that a job is charged for.
struct ChargedAs {
  // `as` is the node's `NodeState::charged_as`.
  int64_t as = 0;
  double part = 0;
};

// Holds how the job comes from one generation to the next (regroup.h, next_generation.h).
struct Regroup {
  Forming forming;
  // `yielding` says that the members are told to stop at the next step boundary.
  bool yielding = false;
  std::string yield_reason;
  // `yields_for_drain` says that the members are told to stop because a node drains, among other things.
  bool yields_for_drain = false;
  bool yield_checkpoint = false;
  // `yield_within_seconds` is how long the members have for the checkpoint that they save when they stop. 0 means no
  // limit.
  double yield_within_seconds = 0;
  // `save_tried` says that all members must leave, and that their last generation was to save the state.
  bool save_tried = false;
  // `saves_failed` counts the saves that failed in a row while the nodes of all members had to leave.
  int saves_failed = 0;
  // `save_again_at` is when the members may at the earliest stop for another save.
  double save_again_at = -kNever;
  double save_told_at = -kNever;
  // `ready_since` is since when a cold start has had enough READY trainers.
  double ready_since = kNever;
  // `silence` is the text of the event that was emitted when all members fell silent. It is empty while some are heard.
  std::string silence;
  // `heard_again` is when the first member was heard after all had fallen silent. The time that the other members have
  // to speak counts from then.
  double heard_again = -kNever;
  // Before `ask_lease_at` nobody asks whether the lease of the silent members has ended.
  double ask_lease_at = -kNever;

  void SetYieldReason(std::string why, bool for_drain = false) {
    yield_reason = std::move(why);
    yields_for_drain = for_drain;
  }
};

// Holds which nodes the job is to have, as its planner decided, and what the planner has to remember (planning.h).
struct Wishes {
  std::vector<Unit> units;
  // `view` is what the job's planner has learned, or was shown last.
  scheduler::JobView view;
  std::vector<std::string> view_pools;
  // `memory` is what the planner keeps between cycles to save time. The planner's answers do not depend on it, so
  // copies of the job may share it.
  std::shared_ptr<scheduler::PlanMemory> memory;
  // `moves_because` is the reason that the job's planner gave for its last action.
  std::string moves_because;
  // `waits_for` is what the planner adds to the reason why the job waits, such as its team's quota. It may be empty.
  std::string waits_for;
  // `waits_for_hours` says that the planner waits for better hours for the job, and that its user was told so.
  bool waits_for_hours = false;
  JobFacts planned_as;
};

// Holds what the job is charged for, and up to which time its status includes these costs (charged_nodes.h, costs.h).
struct JobAccount {
  // `charged_for` lists exactly the parts of nodes that the job holds, as its record says. It is empty while that is
  // not known.
  std::vector<ChargedAs> charged_for;
  // `shares` is what the job is charged for. `lost_shares` is the part of that on lost nodes (charged_nodes.h).
  Shares shares;
  Shares lost_shares;
  // `rate_is_old` says that prices have changed since the status got its rate.
  bool rate_is_old = false;
  // `budget_room` is for how many more slots the job's budget had room when `room_facts` became what they are
  // (spending.h).
  int budget_room = kMaxTrainers;
  std::optional<RoomFacts> room_facts;
  // `held_and_ended` counts the nodes that have ended by themselves while the job still has their slots.
  int held_and_ended = 0;
  // `counted_until` is the Unix time up to which the job's costs are in its status.
  double counted_until = 0;
  SinceStep since_step;
  double cost_told_at = -kNever;
  // `usual_since` is since when the job's cost rate has been usual again, after an alert about the rate.
  double usual_since = kNever;
};

struct Job {
  v1::JobRecord record;
  // `spec_hash` is the hash of the resolved spec. It is 0 until somebody asks for it (see `MutableSpec`).
  mutable uint64_t spec_hash = 0;
  std::map<std::string, Trainer> trainers;
  // `ahead` holds the trainers that are in a generation above the record's (adoption.h).
  std::set<std::string> ahead;
  // `ahead_since` is when the first trainer of `ahead` was heard.
  double ahead_since = kNever;
  // `past` holds trainers that do not count as ahead of the record, because their generation was formed in an earlier
  // epoch than the record's.
  std::set<std::string> past;
  // `refused` maps refused trainers to errors.
  Recent<std::string> refused{kMaxTrainers};
  // `told` holds the refusals, skipped checkpoints and the like that events have told of.
  RecentNames told{kMaxTold};
  // `look_again_at` is when trainers that have looked into the store and found too little look again (store_search.h).
  double look_again_at = -kNever;
  // `precision_checked` says that the resolved precision was checked against the nodes' devices.
  bool precision_checked = false;
  // `active` says that the newest membership is announced to run. If not, `regroup.forming` says what is awaited.
  bool active = false;
  // `runs_because` is why the job runs. Empty means the membership's own reason.
  std::string runs_because;
  double formed_at = -kNever;
  int formed_step = 0;
  // `completed_step` is the last step that members have reported as completed. `status.step` may be of a newer
  // checkpoint.
  int completed_step = 0;
  // `completed_at` is when `completed_step` last rose.
  double completed_at = -kNever;
  std::vector<OpenFault> open_faults;
  // `start_failures` maps "<node>/<slot>" to how many trainers in a row died there without a step.
  Recent<int> start_failures{kMaxTrainers};
  // `excluded_until` maps nodes to the time until which they are kept out, as `record.suspicions` does.
  std::map<std::string, double> excluded_until;
  // `giving_up` maps "<node>/<slot>" to why the job gives the slot up. What runs there leaves at a step boundary.
  std::map<std::string, std::string> giving_up;
  // `saved_before_stop` says that the job has to stop, and that members that stopped within a step went on to save.
  bool saved_before_stop = false;
  // Since `renewals_since`, `renewals` trainers were started anew so that they can use NCCL again.
  int renewals = 0;
  double renewals_since = -kNever;
  double halted_at = -kNever;
  // `unfit` holds each "<node>/<slot>" whose newest trainer has other data or arithmetic than the job.
  RecentNames unfit{kMaxTrainers};
  // `speeds` maps kinds of machines to speeds that are newer than `record.speeds`.
  std::map<std::string, SpeedMean> speeds;
  Flapping ranges_told, stragglers_told;
  // `must_save` says that the record has changed in a part that must be durable.
  DirtyMark must_save;
  // `status_changed` says that the status has changed and watchers want to know of it. The status is saved at most once
  // a second.
  DirtyMark status_changed;
  double saved_at = -kNever;
  double wake_at = kNever;
  Regroup regroup;
  Wishes wishes;
  JobAccount account;
};

// The following functions return facts of a job that every part of the core asks for.
const v1::JobSpec& SpecOf(const Job& job);
// Returns the resolved spec of the job. Every change of it must go through `MutableSpec`, which resets
// `Job::spec_hash`.
v1::JobSpec* MutableSpec(Job& job);
int MicroBatches(const Job& job);
// Returns how many ranks one generation of the job may have at most. Each rank needs a micro-batch, and
// common::kMaxWorldSize is the limit.
int MostRanks(const Job& job);
// Returns whether the job still has to make two steps on one first worker before any other is started.
bool IsSmokeTest(const Job& job);
int MinWorkers(const Job& job);
// Returns the highest number of workers: at most `MostRanks`, and one in the smoke test. While the job is finishing,
// `MaxWorkers` and `MinWorkers` are the number of ranks that have the state together.
int MaxWorkers(const Job& job);
bool IsOver(const Job& job);
// Returns whether all steps are made, and members keep the final state until it is durable.
bool IsFinishing(const Job& job);
// Returns whether the job's user or budget wants it paused, or whether earlier trainers, of which nothing is known, are
// awaited.
bool IsHeldBack(const Job& job);
// Returns whether the job's user, its budget or the planner wants the job to stop.
bool MustStop(const Job& job);
const v1::Member* FindMember(const Job& job, const std::string& trainer);
const Trainer* FindTrainer(const Job& job, const std::string& trainer);
// Returns a generation number above all that are known: those of the record, of the store, and of every trainer heard
// of.
int NextGeneration(const Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_STATE_JOB_H_
