// Test-only: a cluster in virtual time. The coordinator is the real core; trainers, agents, connections and the network
// between them are models that follow worker/train/engine.cc and the contracts in proto/. Everything that happens is
// a function of the seed.
#ifndef REKINDLE_TESTS_SIMULATION_WORLD_H_
#define REKINDLE_TESTS_SIMULATION_WORLD_H_

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
#include "tests/simulation/model.h"
#include "tests/simulation/tally.h"

namespace rekindle::core::simulation {

class World {
 public:
  World(uint64_t seed, const Options& options);

  // Plays the whole schedule. Empty, or what went wrong.
  std::string Play();
  // The last things that happened, oldest first.
  const std::deque<std::string>& journal() const { return journal_; }
  int steps_of_coordinator() const { return coordinator_steps_; }
  const Tally& tally() const { return tally_; }

 private:
  // What a trainer is told.
  struct Answer {
    v1::TrainerDirective directive;
    double spend_seconds = 0;  // Infinite: without end.
  };

  // world.cc: the coordinator and the messages to it.
  void Start();
  void StartCoordinator();
  // The coordinator takes it in with what else has arrived until it can; `then`, unless it dies before.
  void Feed(const Event& event, std::function<void()> then = {});
  void RunTurn();
  // What events asked for, and what was decided; told once it is saved.
  using Arrived = std::pair<Event, std::function<void()>>;
  struct Turned {
    std::vector<Arrived> arrived;
    Effects effects;
  };
  void Save(const Effects& effects);
  void Publish(const Turned& turned);
  void Crash(double away);
  void CheckWake();
  void Note(const std::string& line);
  void Violate(const std::string& what);
  // Between a node and the coordinator, with delay; lost or doubled at times.
  void Send(const std::string& node, std::function<void()> arrive);

  // answers.cc: what is told, by revision
  struct Answers {
    std::map<std::string, int> trainers, nodes;
  };
  Answers AnswersOf(const Cluster& cluster) const;
  void CompareWithFull();
  void CheckWoken(const Answers& before, const Effects& effects, const std::vector<Arrived>& arrived);

  // database.cc
  double CoreNow() const;
  bool CanCommit() const;
  void DatabaseFault();
  void AwaitDatabase(Turned turned, double since);

  // clocks.cc
  void StepClock();
  void FollowClocks(Effects* effects);

  // newcomers.cc
  void AddNode();
  void ReplaceNode(SimNode& node);
  void GiveUpGone();
  void ChangeNode(SimNode& node);
  void MendNodes();
  bool AnyIsOther() const;
  void CheckAlike(const v1::Membership& membership);

  // agents.cc
  void AgentLoop(const std::string& name, int incarnation);
  void AgentReport(SimNode& node);
  void ObeyNode(SimNode& node, const v1::NodeDirective& directive);
  // Carries out what its agent decides, and again when that wants to be asked.
  void Act(SimNode& node);
  void Carry(SimNode& node, const agent::Action& action);
  // The agent was started again: it knows what runs, and nothing that was wanted.
  void AdoptOn(SimNode& node);
  static std::string WantedOn(const SimNode& node, int slot);
  void StartTrainer(SimNode& node, int slot, SimJob& job);
  void StopTrainer(Process& process, int code, bool silent);

  // trainers.cc: control
  void AtProcess(const std::string& id, double delay, std::function<void(Process&)> run);
  void TrainerLoop(const std::string& id);
  // What it says through its reporter; sent at once where the coordinator may decide on it.
  void Say(Process& process, const std::function<void(train::Reporter&)>& change);
  void Report(Process& process);
  void BeRefused(Process& process, const std::string& error);
  void Obey(Process& process, const v1::TrainerDirective& directive);
  Fabric& FabricFor(const Process& process, const v1::Membership& membership);
  void Enter(Process& process, const v1::Membership& membership);

  // jobs.cc
  void Submit(SimJob& job);

  // pools.cc: they take orders
  void TakeOrder(const PoolOrder& order);
  void PoolLoop(const std::string& name);
  void Fulfil(SimPool& pool);
  void MakeMachine(SimPool& pool);
  void EndMachine(const std::string& name);
  void TellOfPool(SimPool& pool);
  void MarketFault();

  // inversion.cc: who waits although less important work runs
  void InversionLoop();
  void CheckInversion(SimJob& job);
  std::string RunsInstead(const SimJob& job);
  bool IsUsable(const SimNode& node) const;

  // fabric.cc: data
  static Fabric& FabricOf(const Process& process) { return process.job->fabrics[process.report.generation()]; }
  void Connect(SimJob& job, int generation);
  void TakeState(Process& process);
  void HaveState(Process& process, int step, bool written);
  void Compute(Process& process);
  void Contribute(Process& process);
  void Reduce(SimJob& job, int generation, int step);
  void GoOn(SimJob& job, int generation, int step, Ending ending);
  void MaybeRecut(const SimJob& job, Fabric& fabric, int step);
  void Prepare(Process& process, int generation, int step, Ending ending);
  void Apply(Process& process, int generation, int step, Ending ending);
  void Applied(Process& process, int generation, int step, Ending ending);
  static std::set<int> AssignedTo(const Process& process, int step);
  bool Reachable(const std::string& a, const std::string& b) const;

  // store.cc: what trainers find in the store of their job
  bool IsAway(const Process& process) const;
  bool CanRead(const Process& process) const;
  bool CanRestore(const Process& process, const std::string& manifest) const;
  std::vector<SavedCheckpoint> FoundBy(const Process& process) const;
  void AwaitStore(Process& process);
  void FollowSearch(Process& process);
  void LookAnew(Process& process);
  void Find(Process& process, const std::string& manifest, bool verify);
  void StoreFault();
  bool DamageNewest(SimJob& job);
  void KillHolders(bool others_too);

  // saving.cc
  void BeginSave(Process& process, int generation, int step);
  void Commit(Process& process, int generation, int step);
  void SaveAndStop(Process& process, int generation, train::Phase phase);
  void Stop(Process& process, train::Phase phase);

  // aborting.cc
  void AccuseMissing(Process& process, const std::set<std::string>& there);
  void Abort(Process& process, comm::Accusation::Kind kind, const std::set<std::string>& accused);
  void LeaveInterrupted(Process& process);
  void TellPeers(const std::string& id, int generation, double within);

  // shards.cc: who holds what of a sharded optimizer state
  void TakeShards(Process& process, int step);
  void SettleShards(Process& process);
  bool AreThere(const std::set<std::string>& processes, int step) const;

  // faults.cc
  void PlanFaults();
  void OneFault();
  void KillCoordinator();
  void StopHearing();
  void KillNode(SimNode& node, bool silent);
  void ReturnNode(const std::string& name);
  void Withdraw(const std::string& name);
  void Undrain(const std::string& name);
  void Heal();
  void ResumeAll();
  SimJob& AnyJob();
  SimNode* AnyNode();
  std::vector<Process*> Running(const SimNode& node);
  Process* AnyOf(const SimNode& node);

  // checks.cc
  static bool IsTakenOver(const SimJob& job, const v1::Membership& membership);
  void CheckMembership(SimJob& job, const v1::JobRecord& before, const v1::JobRecord& record);
  void CheckStatuses(const Effects& effects);
  void CheckReduction(const SimJob& job, const Fabric& fabric, int step);
  void CheckApplied(const Process& process, int generation, int step);
  void CheckNothingLost(SimJob& job, const v1::Membership& membership);
  bool CanBeHeard(const Process& process);

  // durable.cc
  void CheckDurable(SimJob& job, const v1::JobRecord& before, const v1::JobRecord& record);

  // copies.cc
  void PlanCopies();
  void BringBackCopy();
  bool ReviveFromStores();
  void LookForOld(SimJob& job);
  void Listen();

  // found.cc: jobs that were submitted after the copy
  void KeepFile(SimJob& job, const v1::JobRecord& record);
  void StoreFile(SimJob& job);
  void LookForLost(SimJob& job);
  void KillNodesOf(const SimJob& job);
  void FollowFound(SimJob& job);
  void Forsake(SimJob& job);
  void GiveUp(SimJob& job);
  bool IsProvable(const SimJob& job) const;
  bool HasRecord(const SimJob& job) const;
  void NoteAdoption(const v1::Event& event);
  void TellOfLeftAlone(const SimNode& node, v1::NodeReport* report);
  void CheckLeftAlone(const Process& process, const std::string& how);

  // spending.cc: for how long may be spent without the coordinator
  void SetSpending(const v1::JobRecord& record);
  double SpendSeconds(const std::string& uid) const;
  void TellAlone(SimNode& node, double sent, double alone_seconds, double spend_seconds);
  void ConsiderEnd(SimNode& node);
  static bool KeepsFinalState(const Process& process);

  // bills.cc: what jobs cost, and what they may
  const SimPool* PoolOf(const Process& process) const;
  void NoteBill(const v1::JobRecord& record);
  void BeginBill(Process& process);
  void CountRan(Process& process);
  bool IsPaidByOthers(const Process& process) const;
  void NotePayers(const v1::JobRecord& record);
  void CountAllRan();
  void NoteClockSetWhileAway();
  void CheckBill(SimJob& job, const v1::JobRecord& record);

  // budgets.cc: what users do about them
  void FollowBudget(SimJob& job, const v1::JobRecord& before, const v1::JobRecord& record);
  void RaiseBudget(SimJob& job, int times);

  // prices.cc
  PriceBook PricesOfPools() const;
  void ChangePrice();
  void KnowPrices();

  // leases.cc
  double ClockOf(const Process& process) const;
  bool Holds(const Process& process, int generation) const;
  bool IsFresh(const Process& process, int generation) const;
  void TakeLease(Process& process, const Answer& answer, double sent);
  void HoldLoop(const std::string& id);
  void SetLease(const v1::JobRecord& record);
  void NoteAnswer(const std::string& uid, const v1::TrainerDirective& directive);
  void AnswerLease(const LeaseQuestion& question);
  void StandStill(SimJob& job, int generation, int step, Ending ending);
  void AskAgain(SimJob& job, int generation, int step, Ending ending);
  void EndStanding(const v1::Membership& membership);

  Options options_;
  Chance chance_;
  Queue queue_;
  std::unique_ptr<Cluster> cluster_;
  bool coordinator_up_ = false;
  int coordinator_life_ = 0;
  int coordinator_steps_ = 0;
  double wake_at_ = 0;
  std::vector<Arrived> arrived_;
  bool commits_ = false;  // A turn is being saved: the next one waits.
  bool lossy_ = true;
  double coordinator_since_ = 0;
  double stalled_ = 0;  // So much less has passed for the core than for the coordinator's process.
  double database_fails_until_ = 0;
  double database_slow_until_ = 0;
  double wall_offset_ = kUnixStart;  // Of the coordinator's Unix time.
  double told_offset_ = kUnixStart;  // As the core knows, as is the next.
  double told_stalled_ = 0;
  double saved_offset_ = kUnixStart;              // As what was saved last was counted by.
  int named_ = 0;                                 // Nodes that nobody ordered, so far.
  std::map<std::string, SimJob> jobs_;            // By uid.
  std::map<std::string, v1::JobRecord> records_;  // What the coordinator has saved of them.
  std::map<std::string, v1::NodeRecord> node_records_;
  std::map<std::string, v1::JobRecord> copied_records_;
  std::map<std::string, v1::NodeRecord> copied_node_records_;
  int epoch_ = 1;
  double brought_back_at_ = 0;
  bool listens_first_ = false;
  std::map<std::string, v1::PoolRecord> pool_records_;
  std::map<std::string, SimLease> leases_;     // By uid, as is the next.
  std::map<std::string, double> spend_until_;  // Of jobs that may not spend without end.
  std::map<std::string, SimNode> nodes_;
  std::map<std::string, SimPool> pools_;
  std::map<std::string, Process> processes_;
  std::set<std::pair<std::string, std::string>> blocked_;  // Pairs of nodes without a data connection.
  std::deque<std::string> journal_;
  Tally tally_;
  std::string violation_;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_WORLD_H_
