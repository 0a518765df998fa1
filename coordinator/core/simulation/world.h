// Test-only: a cluster in virtual time. The coordinator is the real core; trainers, agents, connections and the network
// between them are models that follow worker/train/engine.cc and the contracts in proto/. Everything that happens is
// a function of the seed.
#ifndef REKINDLE_COORDINATOR_CORE_SIMULATION_WORLD_H_
#define REKINDLE_COORDINATOR_CORE_SIMULATION_WORLD_H_

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/core/cluster.h"
#include "coordinator/core/simulation/queue.h"

namespace rekindle::core::simulation {

struct Options {
  int nodes = 3;
  int micro_batches = 8;
  int steps = 40;
  double chaos_seconds = 12;
  int faults = 7;
  bool sharded = false;  // The optimizer's state, two holders a shard.
};

// One trainer process.
struct Process {
  std::string id;
  std::string node;
  bool alive = true;
  bool draining_exit = false;
  double frozen_until = 0;
  v1::TrainerReport report;
  int known_revision = 0;
  int last_reply = 0;  // Sequence of the newest request that was answered.
  v1::TrainerDirective directive;
  bool yield_seen = false;
};

struct Exit {
  std::string trainer;
  int code = 0;
};

struct SimNode {
  std::string name;
  bool up = true;
  bool agent = true;
  int incarnation = 1;
  int agent_incarnation = 1;
  int started = 0;          // Trainer processes so far.
  std::string process;      // The one on its only slot; empty: none.
  std::vector<Exit> exits;  // Not acknowledged.
  bool draining = false;
  v1::NodeDirective directive;
  int request = 0;
  int last_reply = 0;
};

// The communicator of one generation.
struct Fabric {
  v1::Membership membership;
  std::set<std::string> entered;
  std::set<std::string> aborted;
  std::set<std::string> has_state;
  std::map<std::string, std::pair<int, std::set<int>>> contributed;  // Trainer -> (step, micro-batches).
  bool connected = false;
  std::map<int, std::vector<int>> cuts;           // Step -> ends of the ranges that the ranks agreed on from it on.
  int reduced = -1;                               // The newest step whose all-reduce is done.
  std::map<int, std::set<std::string>> prepared;  // Sharded: steps -> who can apply its part by itself.
  std::map<int, std::set<std::string>> applied;   // Steps -> who has applied so many.
};

class World {
 public:
  World(uint64_t seed, Options options);

  // Plays the whole schedule. Empty, or what went wrong.
  std::string Play();
  // The last things that happened, oldest first.
  const std::deque<std::string>& journal() const { return journal_; }
  int steps_of_coordinator() const { return coordinator_steps_; }

 private:
  // world.cc: the coordinator and the messages to it.
  void Start();
  void StartCoordinator();
  // The coordinator takes it in with what else has arrived until it can; `then`, unless it dies before.
  void Feed(const Event& event, std::function<void()> then = {});
  void RunTurn();
  void Crash(double away);
  void CheckWake();
  void Note(const std::string& line);
  void Violate(const std::string& what);
  void Send(std::function<void()> arrive);  // With delay; lost or doubled at times.

  // agents.cc
  void AgentLoop(const std::string& name, int incarnation);
  void AgentReport(SimNode& node);
  void ObeyNode(SimNode& node, const v1::NodeDirective& directive);
  void StartTrainer(SimNode& node);
  void StopTrainer(Process& process, int code, bool silent);

  // trainers.cc: control
  void AtProcess(const std::string& id, double delay, std::function<void(Process&)> run);
  void TrainerLoop(const std::string& id);
  void Report(Process& process);
  void Obey(Process& process, const v1::TrainerDirective& directive);
  void Enter(Process& process, const v1::Membership& membership);

  // fabric.cc: data
  void Connect(int generation);
  void TakeState(Process& process);
  void HaveState(Process& process, int step);
  void Compute(Process& process);
  void Contribute(Process& process);
  void Reduce(int generation, int step);
  void MaybeRecut(Fabric& fabric, int step);
  void Prepare(Process& process, int generation, int step, bool yield);
  void AccuseMissing(Process& process, const std::set<std::string>& there);
  void Apply(Process& process, int generation, int step, bool yield);
  void Abort(Process& process, v1::Accusation::Kind kind, const std::set<std::string>& accused);
  void TellPeers(const std::string& id, int generation, double within);
  std::set<int> AssignedTo(const Process& process) const;
  bool Reachable(const std::string& a, const std::string& b) const;

  // shards.cc: who holds what of a sharded optimizer state
  void TakeShards(Process& process, int step);
  void SettleShards(Process& process);
  bool AreThere(const std::set<std::string>& processes, int step) const;

  // faults.cc
  void PlanFaults();
  void OneFault();
  void KillNode(SimNode& node, bool silent);
  void ReturnNode(const std::string& name);
  void Withdraw(const std::string& name);
  void Heal();
  SimNode* AnyNode();
  Process* AnyProcess();
  Process* Running(SimNode& node);

  // checks.cc
  void CheckMembership(const v1::JobRecord& before, const v1::JobRecord& record);
  void CheckReduction(const Fabric& fabric, int step);
  void CheckNothingLost(const v1::Membership& membership);
  bool CanBeHeard(const Process& process);

  Options options_;
  Chance chance_;
  Queue queue_;
  std::unique_ptr<Cluster> cluster_;
  bool coordinator_up_ = false;
  int coordinator_life_ = 0;
  int coordinator_steps_ = 0;
  double wake_at_ = 0;
  std::vector<std::pair<Event, std::function<void()>>> arrived_;
  bool lossy_ = true;
  double coordinator_since_ = 0;
  std::string uid_ = "job";
  std::map<std::string, v1::JobRecord> jobs_;
  std::map<std::string, v1::NodeRecord> node_records_;
  std::map<std::string, SimNode> nodes_;
  std::map<std::string, Process> processes_;
  std::map<int, Fabric> fabrics_;
  std::vector<std::pair<int, int>> store_;                 // Committed checkpoints: (generation, step).
  std::set<std::pair<std::string, std::string>> blocked_;  // Pairs of nodes without a data connection.
  int highest_reducing_ = 0;                               // Newest generation that has completed an all-reduce.
  int completed_ = 0;  // Steps that every member of a generation has applied, and were not rolled back.
  bool paused_ = false;
  std::deque<std::string> journal_;
  std::string violation_;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_COORDINATOR_CORE_SIMULATION_WORLD_H_
