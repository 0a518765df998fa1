// Test-only: what a simulated cluster is made of. Plain values.
#ifndef REKINDLE_TESTS_SIMULATION_MODEL_H_
#define REKINDLE_TESTS_SIMULATION_MODEL_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/core/pool_orders.h"
#include "coordinator/core/prices.h"
#include "rekindle/v1/job_file.pb.h"
#include "rekindle/v1/membership.pb.h"
#include "rekindle/v1/node.pb.h"
#include "rekindle/v1/trainer.pb.h"
#include "tests/simulation/reporting.h"
#include "worker/agent/alone.h"
#include "worker/agent/reconcile.h"
#include "worker/train/lease.h"

namespace rekindle::core::simulation {

// Of the coordinator; shorter than usual, as schedules are of a minute.
inline constexpr double kPauseSeconds = 6;
inline constexpr double kPoolStartSeconds = 6;
inline constexpr double kRegisterSeconds = 18;  // More than a machine that is late takes.
inline constexpr double kLeaseSeconds = 6;
inline constexpr double kLeaseSaveSeconds = 1;
inline constexpr double kLeaseStepSeconds = 1;
inline constexpr double kClocksDiffer = 0.009;  // At most, by that share.
inline constexpr double kUnixStart = 1e6;       // However a clock is set, it is after 1970.
inline constexpr char kCluster[] = "cluster";
inline constexpr char kData[] = "data";  // What trainers say of their data and of their arithmetic.
inline constexpr char kProbe[] = "probe";

struct JobOptions {
  std::string name = "job";
  int micro_batches = 8;
  int steps = 40;
  bool sharded = false;  // The optimizer's state, two holders a shard.
  int priority = 0;
  int min = 0, max = 0;  // Workers; 0: as the coordinator resolves it.
  double submit_at = 0;
  double budget = 0;  // In the currency of the pools' prices; 0: none.
  bool lease = true;  // Without word of the coordinator it stands still, and not only for its budget.
};

// Of spot machines that come by orders.
struct PoolOptions {
  std::string name;
  int max = 2;
  double price = 1;    // An hour, at first.
  int slots = 1;       // Of each machine.
  bool asked = false;  // Its provider is asked for the price; else the fleet file states it.
};

struct Options {
  int nodes = 3;
  int most_slots = 1;  // Of each of these.
  std::vector<JobOptions> jobs = {{}};
  std::vector<PoolOptions> pools;
  double chaos_seconds = 12;
  int faults = 7;
  int database = 0;          // So often the coordinator's database fails or is slow for a while,
  int clocks = 0;            // and its wall clock is set.
  int strangers = 0;         // So often a node gets other data or another processor.
  bool renames = false;      // Machines that die may come back under other names.
  double longest_away = 3;   // Of the coordinator, when it is killed.
  int absences = 0;          // So often it is away for longer than what was granted lasts.
  bool compare = false;      // Looks at everything after each turn, not after the last alone.
  int unheard = 0;           // So often the coordinator hears none of some nodes for a while.
  int store = 0;             // So often something is wrong with the store of a job.
  int prices = 0;            // So often the price of a pool changes.
  double alone_seconds = 0;  // An ordered machine ends itself after so long without a coordinator; 0: never.
  int copies = 0;            // So often the coordinator's records are brought back from a copy,
  bool from_stores = false;  // of which only what the jobs' stores keep is left.
};

enum class Damage { kNone, kShard, kManifest };  // The first is only seen by whoever reads all of it.

struct SavedCheckpoint {
  int generation = 0;
  int step = 0;
  Damage damage = Damage::kNone;
};

inline std::string ManifestOf(int generation, int step) {
  return std::to_string(generation) + "-" + std::to_string(step);
}

// The communicator of one generation.
struct Fabric {
  v1::Membership membership;
  train::Membership plain;
  std::set<std::string> entered;
  std::set<std::string> aborted;
  std::set<std::string> has_state;
  std::map<std::string, std::pair<int, std::set<int>>> contributed;  // Trainer -> (step, micro-batches).
  bool connected = false;
  std::map<std::string, bool> holds;              // Whose lease held as it contributed.
  std::map<int, std::vector<int>> cuts;           // Step -> ends of the ranges that the ranks agreed on from it on.
  int reduced = -1;                               // The newest step whose all-reduce is done.
  std::map<int, std::set<std::string>> prepared;  // Sharded: steps -> who can apply its part by itself.
  std::map<int, std::set<std::string>> applied;   // Steps -> who has applied so many.
};

// What a job costs by our own count, and what of its budget is not to be held against that.
struct Bill {
  double ran = 0;           // What processes on priced machines have cost at least.
  int processes = 0;        // Of these, so far.
  double budget = 0;        // The highest that its user has allowed.
  double forgiven = 0;      // Spent beyond it to save a result.
  double unsure = 0;        // Seconds that the coordinator could not tell from a clock that was set while it was away.
  bool over = false;        // Nothing is charged any more, ...
  bool rest_comes = false;  // ... but for the time in which nobody could be told that.
  bool stopped = false;     // Its user is about to allow more.
};

// What there is of a job beside the coordinator's record, for the day on which that is gone.
struct Lost {
  v1::JobFile told;         // As the coordinator had it last.
  v1::JobFile stored;       // As its store has it; without a uid: not at all.
  bool found = false;       // The coordinator of this epoch has said that it lives.
  double adopt_at = 0;      // Its user waits no longer.
  double provable_for = 0;  // So long nothing has stood in the way of whoever would know whose it is.
};

// By which generations are older or newer: the epoch of the coordinator that formed it, and its number. Where a copy of
// the records is brought back, numbers that nobody knows of any more are given again.
using Age = std::pair<int, int>;
inline Age AgeOf(const v1::Membership& membership) { return {membership.epoch(), membership.generation()}; }

// A job, with what is true of it whether the coordinator knows or not.
struct SimJob {
  JobOptions options;
  std::string uid;
  bool submitted = false;
  bool paused = false;
  std::map<int, Fabric> fabrics;  // By generation.
  std::vector<SavedCheckpoint> store;
  double store_full_until = 0;     // Nobody writes it.
  Age highest_reducing;            // Of the newest generation that has completed an all-reduce.
  int completed = 0;               // Steps that every member of a generation has applied, and were not rolled back.
  std::set<std::string> late;      // Trainer and generation: applied the step it was in after a newer one stepped.
  std::set<std::string> recorded;  // Checkpoints that the coordinator has recorded as durable.
  double inverted_for = 0;         // So long somebody below runs although its minimum could be filled,
  std::string usable;              // with these machines, and this coordinator.
  Bill bill;
  Lost lost;
};

// A rank waits for the others for so many seconds.
inline constexpr double kProgressDeadline = 2;

// With nobody accused.
inline constexpr auto kAccusesNobody = comm::Accusation::Kind::kClosed;

// How a generation ends at a step boundary.
enum class Ending { kNone, kYield, kSave };

// One trainer process.
struct Process {
  SimJob* job = nullptr;
  std::string id;
  std::string node;
  int slot = 0;
  bool alive = true;
  double started_at = 0;
  double frozen_until = 0;
  std::unique_ptr<Reporting> reporting;  // Null: it has never been started.
  v1::TrainerReport report;              // What is true of it, published or not. World::Say alone changes it.
  int64_t sequence = 0;                  // Of the newest message.
  bool applies = false;                  // It writes the state: what ends its generation waits for that.
  int known_revision = 0;
  int last_reply = 0;  // Sequence of the newest request that was answered.
  std::unique_ptr<train::Lease> lease;
  double said = 0;            // When it told the others whether its lease holds, by its machine's clock.
  double counted_until = -1;  // On its bill; negative: its machine has no price.
  v1::TrainerDirective directive;
  Ending ending_seen = Ending::kNone;
  bool has_started = false;        // It reports.
  bool is_known = false;           // The coordinator has heard of its agent that it runs.
  bool is_paid_by_others = false;  // Another job pays for its slot.
  std::string sought;              // Its directive named this checkpoint when it looked last.
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
  int started = 0;         // Trainer processes so far.
  std::string process;     // Empty: none.
  std::string last_ended;  // Trainer.
};

struct SimNode {
  std::string name;
  std::string pool;  // Empty: a machine that nobody ordered.
  bool up = true;
  bool agent = true;
  bool gone = false;  // For good.
  int incarnation = 1;
  int agent_incarnation = 1;
  std::vector<SimSlot> slots = std::vector<SimSlot>(1);
  std::vector<Exit> exits;  // Not acknowledged.
  double wake_at = 0;       // Its agent acts then.
  bool draining = false;
  double store_away_until = 0;  // No store answers.
  double unmounted_until = 0;   // Where the stores should be there is an empty folder.
  double clock_rate = 1;        // Against the coordinator's.
  std::string data = kData;     // What its trainers read,
  std::string probe = kProbe;   // and how they compute.
  double unheard_until = 0;     // Neither its agent nor its trainers reach the coordinator, or it them.
  v1::NodeDirective directive;
  std::map<std::string, v1::DesiredTrainer> wanted;  // By uid: as it was told last.
  agent::Node decides;  // What the agent knows: of its directive, its trainer and the deaths of those before.
  agent::Alone alone{0, 0};
  double ends_at = 0;  // It has seen that its time is over; 0: it is not.
  int request = 0;
  int last_reply = 0;
};

// What the coordinator's server knows of the answers to members of a generation.
struct SimLease {
  int generation = 0;
  double answered = 0;
};

// A provider's pool, and the market behind it.
struct SimPool {
  PoolOptions options;
  int offered = 0;  // Machines that the market gives at most.
  bool says_when_short = false;
  bool says_what_ended = true;
  PoolOrder order;
  int made = 0;                    // Machines so far.
  std::set<std::string> machines;  // That exist or are being made.
  std::set<std::string> dead;      // Of these: they run, and no node comes of them.
  bool answered = true;            // The newest order.
  int reported = -1;               // So many machines; -1: nothing since the coordinator started.
  std::vector<std::string> ended;  // As was reported then, as are the next.
  std::vector<PoolMachine> told;
  PriceHistory prices;
  double least_price = 0;    // That the coordinator may count with now.
  double highest_price = 0;  // So far.
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
