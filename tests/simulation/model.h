// Defines the plain values that a simulated cluster is made of. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_MODEL_H_
#define REKINDLE_TESTS_SIMULATION_MODEL_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/market/pool_orders.h"
#include "coordinator/market/prices.h"
#include "rekindle/v1/job_file.pb.h"
#include "rekindle/v1/membership.pb.h"
#include "rekindle/v1/node.pb.h"
#include "rekindle/v1/trainer.pb.h"
#include "tests/simulation/reporting.h"
#include "tests/simulation/schedule_options.h"
#include "worker/agent/decisions/alone.h"
#include "worker/agent/decisions/slot_health.h"
#include "worker/agent/decisions/slot_plan.h"
#include "worker/train/control/lease.h"

namespace rekindle::core::simulation {

// The settings of the coordinator below are shorter than usual, because a schedule lasts about a minute.
inline constexpr double kPauseSeconds = 6;
inline constexpr double kPoolStartSeconds = 6;
// A machine has to register within `kRegisterSeconds`, which is longer than a late machine takes.
inline constexpr double kRegisterSeconds = 18;
inline constexpr double kLeaseSeconds = 6;
inline constexpr double kLeaseSaveSeconds = 1;
inline constexpr double kLeaseStepSeconds = 1;
// The clock of a machine runs faster or slower than the coordinator's by at most a share of `kClocksDiffer`.
inline constexpr double kClocksDiffer = 0.009;
// The coordinator's Unix time starts at `kUnixStart`, so that it stays after 1970 however the clock is set.
inline constexpr double kUnixStart = 1e6;
inline constexpr char kCluster[] = "cluster";
// Trainers report `kData` as the fingerprint of their data and `kProbe` as the digest of their arithmetic probe.
inline constexpr char kData[] = "data";
inline constexpr char kProbe[] = "probe";

// Only a reader of the whole checkpoint notices a damaged shard. A damaged manifest is noticed at once.
enum class Damage { kNone, kShard, kManifest };

struct SavedCheckpoint {
  int generation = 0;
  int step = 0;
  Damage damage = Damage::kNone;
};

inline std::string ManifestOf(int generation, int step) {
  return std::to_string(generation) + "-" + std::to_string(step);
}

// Models the communicator of one generation.
struct Fabric {
  v1::Membership membership;
  train::Membership plain;
  std::set<std::string> entered;
  std::set<std::string> aborted;
  std::set<std::string> has_state;
  // `contributed` maps each trainer to the step to which it has contributed, and to the micro-batches that it gave.
  std::map<std::string, std::pair<int, std::set<int>>> contributed;
  bool connected = false;
  // `holds` maps each trainer to whether its lease held when it contributed to its newest step.
  std::map<std::string, bool> holds;
  // `cuts` maps a step to the ends of the ranges of micro-batches that the ranks use from that step on.
  std::map<int, std::vector<int>> cuts;
  // `reduced` is the newest step whose all-reduce is done.
  int reduced = -1;
  // With a sharded state, `prepared` maps a step to the trainers that have prepared it and can apply their part alone.
  std::map<int, std::set<std::string>> prepared;
  // `applied` maps a number of steps to the trainers that have applied that many.
  std::map<int, std::set<std::string>> applied;
};

// Holds what a job costs by the simulation's own count, and which part of the cost its budget does not limit.
struct Bill {
  // The job's processes on priced machines have cost at least `ran`.
  double ran = 0;
  // `processes` is the number of processes that have run on priced machines so far.
  int processes = 0;
  // `budget` is the highest budget that the user has allowed.
  double budget = 0;
  // The amount `forgiven` was spent beyond the budget in order to save a result.
  double forgiven = 0;
  // For `unsure` seconds the coordinator could not tell passing time from a clock that was set while it was away.
  double unsure = 0;
  // `over` says that the job is over and nothing is charged any more.
  bool over = false;
  // `rest_comes` says that one charge is still to come, for the time in which nobody could be told that the job is
  // over.
  bool rest_comes = false;
  // `stopped` says that the job is stopped and its user is about to allow more.
  bool stopped = false;
};

// Holds what exists of a job outside the coordinator's records. It is needed once those records are lost.
struct Lost {
  // `told` is the job file as the coordinator had it last.
  v1::JobFile told;
  // `stored` is the job file as the job's store has it. Without a uid the store has none.
  v1::JobFile stored;
  // `found` says that the coordinator of this epoch has said that the job lives.
  bool found = false;
  // At `adopt_at` the user stops waiting and asks the coordinator to take the job over.
  double adopt_at = 0;
  // For `provable_for` seconds nothing has prevented the coordinator from finding out whose job it is.
  double provable_for = 0;
};

// Orders generations by age: first by the epoch of the coordinator that formed them, then by number. The number alone
// is not enough, because after a copy of the records was brought back forgotten numbers are given again.
using Age = std::pair<int, int>;
inline Age AgeOf(const v1::Membership& membership) { return {membership.epoch(), membership.generation()}; }

// Holds a job and what is true of it, whether the coordinator knows that or not.
struct SimJob {
  JobOptions options;
  std::string uid;
  bool submitted = false;
  bool paused = false;
  // Maps each generation to its communicator.
  std::map<int, Fabric> fabrics;
  std::vector<SavedCheckpoint> store;
  // Nobody can write to the store until `store_full_until`.
  double store_full_until = 0;
  // `highest_reducing` is the age of the newest generation that has completed an all-reduce.
  Age highest_reducing;
  // `completed` counts the steps that every member of a generation has applied and that were not rolled back.
  int completed = 0;
  // `late` names each trainer, with its generation, that applied its running step after a newer generation had stepped.
  std::set<std::string> late;
  // `recorded` names the checkpoints that the coordinator has recorded as durable.
  std::set<std::string> recorded;
  // Whatever the job's ranks exchange by NCCL hangs until `nccl_hangs_until`.
  double nccl_hangs_until = 0;
  // For `inverted_for` seconds a less important job has been running although this job's minimum could be filled.
  double inverted_for = 0;
  // `usable` names the machines and the run of the coordinator's process during which `inverted_for` has been counted.
  // If either of them changes, the count starts again.
  std::string usable;
  Bill bill;
  Lost lost;
};

// A rank waits `kProgressDeadline` seconds for the others.
inline constexpr double kProgressDeadline = 2;

// `kAccusesNobody` is the kind of accusation when a generation ends and no rank is accused.
inline constexpr auto kAccusesNobody = comm::Accusation::Kind::kClosed;

// Says how a generation ends at a step boundary.
enum class Ending { kNone, kYield, kSave };

// Models one trainer process.
struct Process {
  SimJob* job = nullptr;
  std::string id;
  std::string node;
  int slot = 0;
  bool alive = true;
  double started_at = 0;
  double frozen_until = 0;
  // `reporting` runs the real Reporter for the process. It is null before the process has been started.
  std::unique_ptr<Reporting> reporting;
  // `report` is what is true of the process, published or not. Only `SimCluster::Say` changes it.
  v1::TrainerReport report;
  // `sequence` is the number of the newest message that the process has sent.
  int64_t sequence = 0;
  // The abort of NCCL hangs in the process until `aborts_until`. 0 means that none has hung.
  double aborts_until = 0;
  // `applies` says that the process is writing the state. Whatever ends its generation waits until that is done.
  bool applies = false;
  int known_revision = 0;
  // `last_reply` is the sequence number of the newest request that was answered.
  int last_reply = 0;
  std::unique_ptr<train::Lease> lease;
  // `said` is the time by its machine's clock at which the process told the other ranks whether its lease holds.
  double said = 0;
  // What the process costs is on the job's bill up to the time `counted_until`. A negative value means that the
  // process's machine has no price.
  double counted_until = -1;
  v1::TrainerDirective directive;
  Ending ending_seen = Ending::kNone;
  // `has_started` says that the process has begun to report.
  bool has_started = false;
  // `is_known` says that the coordinator has heard from the agent that the process runs.
  bool is_known = false;
  // `is_paid_by_others` says that another job pays for the slot of the process.
  bool is_paid_by_others = false;
  // `sought` is the checkpoint that the directive named when the process last followed it.
  std::string sought;
  bool sought_verified = false;
  double search_at = 0;
  double look_at = 0;
  double search_pause = 0;
};

struct Exit {
  std::string trainer;
  std::string job_uid;
  int slot = 0;
  int code = 0;
};

struct SimSlot {
  // `started` is the number of trainer processes that were started in the slot so far.
  int started = 0;
  // `process` is the trainer that runs in the slot. It is empty if none does.
  std::string process;
  // `last_ended` is the trainer that has ended in the slot last.
  std::string last_ended;
  // Until `broken_until` every trainer in the slot ends because of its GPU. `driver_knows` says that the driver finds
  // something wrong with it, too.
  double broken_until = 0;
  bool driver_knows = false;
};

// The versions of NCCL that nodes have. A node without a GPU has version 0.
inline constexpr int kNcclVersion = 22809, kOtherNcclVersion = 23007;

// The agent asks the driver about a GPU sooner than a real one does, because schedules are short.
inline constexpr agent::SlotHealthPolicy kHealthPolicy = {
    .context_seconds = 600, .first_seconds = 2, .longest_seconds = 16};

struct SimNode {
  std::string name;
  // `pool` is the pool in which the machine was ordered. It is empty for a machine that nobody ordered.
  std::string pool;
  bool up = true;
  bool agent = true;
  // `gone` says that the machine never comes back.
  bool gone = false;
  int incarnation = 1;
  int agent_incarnation = 1;
  std::vector<SimSlot> slots = std::vector<SimSlot>(1);
  // `exits` holds the exits that the coordinator has not acknowledged.
  std::vector<Exit> exits;
  // The agent acts again at `wake_at`.
  double wake_at = 0;
  bool draining = false;
  // No store answers the node until `store_away_until`.
  double store_away_until = 0;
  // Until `unmounted_until` the node has an empty folder where the stores should be.
  double unmounted_until = 0;
  // `clock_rate` is the speed of the node's clock relative to the coordinator's.
  double clock_rate = 1;
  int nccl_version = 0;
  // `data` is the fingerprint of the data that the node's trainers read, and `probe` the digest of how they compute.
  std::string data = kData;
  std::string probe = kProbe;
  // Until `unheard_until` no message passes between the coordinator and the node's agent or trainers.
  double unheard_until = 0;
  v1::NodeDirective directive;
  // Maps each job's uid to what the agent was last asked to run for it.
  std::map<std::string, v1::DesiredTrainer> wanted;
  // `decides` is what the agent knows: its directive, its trainers and the deaths of earlier trainers.
  agent::Node decides;
  // `health` is what the agent knows of the slots' GPUs. The agent asks the driver about them at `ask_driver_at`.
  agent::SlotHealth health{kHealthPolicy};
  double ask_driver_at = 0;
  agent::Alone alone{0, 0};
  // The machine may not run any longer without a coordinator and ends at `ends_at`. 0 means that it still may run.
  double ends_at = 0;
  int request = 0;
  int last_reply = 0;
};

// Holds what the coordinator's server knows of the answers that it gave to members of a generation.
struct SimLease {
  int generation = 0;
  double answered = 0;
};

// Models a provider's pool and the market behind it.
struct SimPool {
  PoolOptions options;
  // `offered` is the largest number of machines that the market gives now.
  int offered = 0;
  bool says_when_short = false;
  bool says_what_ended = true;
  PoolOrder order;
  // `made` is the number of machines that were made so far.
  int made = 0;
  // `machines` names the machines that exist or are being made.
  std::set<std::string> machines;
  // `dead` names those machines that run but never register a node.
  std::set<std::string> dead;
  // `answered` says that the provider has answered the newest order.
  bool answered = true;
  // `reported` is the number of machines in the provider's last report. It is -1 if the provider has sent no report
  // since the coordinator started.
  int reported = -1;
  // `ended` has the machines that the provider's last report calls ended, and `told` all that it names.
  std::vector<std::string> ended;
  std::vector<PoolMachine> told;
  PriceHistory prices;
  // `least_price` is the lowest price of a machine per hour that the coordinator may charge now.
  double least_price = 0;
  // `highest_price` is the highest price of a machine per hour that the pool has had so far.
  double highest_price = 0;
};

inline const v1::Member* FindMember(const v1::Membership& membership, const std::string& id) {
  for (const v1::Member& member : membership.members()) {
    if (member.trainer() == id) return &member;
  }
  return nullptr;
}

inline bool In(const Process& process, int generation) {
  const v1::TrainerPhase phase = process.report.phase();
  return process.alive && process.report.generation() == generation &&
         (phase == v1::TRAINER_RUNNING || phase == v1::TRAINER_STANDING);
}

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_MODEL_H_
