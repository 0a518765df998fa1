// Simulates a cluster in virtual time for tests. The coordinator is the real core. Trainers, agents, connections and
// the network between them are models that follow worker/train/engine/engine.cc and the contracts in proto/. Everything
// that happens is a function of the seed.
#ifndef REKINDLE_TESTS_SIMULATION_SIM_CLUSTER_H_
#define REKINDLE_TESTS_SIMULATION_SIM_CLUSTER_H_

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

class SimCluster {
 public:
  SimCluster(uint64_t seed, const Options& options);

  // Plays the whole schedule. Returns an empty string, or what went wrong.
  std::string Play();
  // Returns the journal of the last things that happened, oldest first.
  const std::deque<std::string>& journal() const { return journal_; }
  int steps_of_coordinator() const { return coordinator_steps_; }
  const Tally& tally() const { return tally_; }

 private:
  // Holds what a trainer receives as an answer to its report.
  struct Answer {
    v1::TrainerDirective directive;
    // `spend_seconds` is infinite if the job may spend without limit.
    double spend_seconds = 0;
  };

  // The functions in sim_cluster.cc model the coordinator and the messages to it.
  void Start();
  void StartCoordinator();
  // Gives the event to the coordinator, whose next turn handles all events that have arrived. Calls `then` after that
  // turn is saved, unless the coordinator dies before.
  void Feed(const Event& event, std::function<void()> then = {});
  void RunTurn();
  // A turn holds the events that arrived and what was decided. Nobody is told anything of the turn before it is saved.
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
  // Sends a message between a node and the coordinator with a delay. Sometimes it is lost or arrives twice.
  void Send(const std::string& node, std::function<void()> arrive);

  // The functions in answers.cc compare the coordinator's decisions with those of a coordinator that looks at
  // everything. An answer is represented by the revision of its directive.
  struct Answers {
    std::map<std::string, int> trainers, nodes;
  };
  Answers AnswersOf(const Cluster& cluster) const;
  void CompareWithFull();
  void CheckWoken(const Answers& before, const Effects& effects, const std::vector<Arrived>& arrived);

  // The functions in database.cc model a database that cannot be written or is slow.
  double CoreNow() const;
  bool CanCommit() const;
  void DatabaseFault();
  void AwaitDatabase(Turned turned, double since);

  // The functions in clocks.cc model wall clocks that are set.
  void StepClock();
  void FollowClocks(Effects* effects);

  // The functions in newcomers.cc model machines that come in the place of others.
  void AddNode();
  void ReplaceNode(SimNode& node);
  void GiveUpGone();
  void ChangeNode(SimNode& node);
  void MendNodes();
  bool AnyIsOther() const;
  void CheckAlike(const v1::Membership& membership);

  // The functions in agents.cc model the nodes' agents.
  void AgentLoop(const std::string& name, int incarnation);
  void AgentReport(SimNode& node);
  void ObeyNode(SimNode& node, const v1::NodeDirective& directive);
  // Carries out what the node's agent decides, and does so again at the time that the agent asks for.
  void Act(SimNode& node);
  void Carry(SimNode& node, const agent::Action& action);
  // Restarts the agent: it finds out what runs on its node, but has forgotten what the coordinator wanted there.
  void AdoptOn(SimNode& node);
  static std::string WantedOn(const SimNode& node, int slot);
  void StartTrainer(SimNode& node, int slot, SimJob& job);
  void StopTrainer(Process& process, int code, bool silent);

  // The functions in trainers.cc model how a trainer talks to the coordinator.
  void AtProcess(const std::string& id, double delay, std::function<void(Process&)> run);
  void TrainerLoop(const std::string& id);
  // Changes what the process reports. It sends the report at once if the coordinator may have to decide on it.
  void Say(Process& process, const std::function<void(train::Reporter&)>& change);
  void Report(Process& process);
  void BeRefused(Process& process, const std::string& error);
  void Obey(Process& process, const v1::TrainerDirective& directive);
  Fabric& FabricFor(const Process& process, const v1::Membership& membership);
  void Enter(Process& process, const v1::Membership& membership);

  // The function in jobs.cc models how users submit jobs.
  void Submit(SimJob& job);

  // The functions in pools.cc model pools that take orders.
  void TakeOrder(const PoolOrder& order);
  void PoolLoop(const std::string& name);
  void Fulfil(SimPool& pool);
  void MakeMachine(SimPool& pool);
  void EndMachine(const std::string& name);
  void TellOfPool(SimPool& pool);
  void MarketFault();

  // The functions in inversion.cc find jobs that wait although less important work runs.
  void InversionLoop();
  void CheckInversion(SimJob& job);
  std::string RunsInstead(const SimJob& job);
  bool IsUsable(const SimNode& node) const;

  // The functions in fabric.cc model the data plane.
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

  // The functions in nccl.cc model how GPUs exchange.
  void TakeGpu(SimNode& node);
  bool MayExchange(Process& process);
  void HangNccl();
  void EndByNccl(Process& process);
  void LeaveNccl(Process& process);
  void CheckTransport(const SimJob& job, const v1::Membership& membership);

  // The functions in store.cc model what trainers find in the store of their job.
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

  // The functions in saving.cc model how checkpoints are written.
  void BeginSave(Process& process, int generation, int step);
  void Commit(Process& process, int generation, int step);
  void SaveAndStop(Process& process, int generation, train::Phase phase);
  void Stop(Process& process, train::Phase phase);

  // The functions in aborting.cc model how a generation ends.
  void AccuseMissing(Process& process, const std::set<std::string>& there);
  void Abort(Process& process, comm::Accusation::Kind kind, const std::set<std::string>& accused);
  void LeaveInterrupted(Process& process);
  void TellPeers(const std::string& id, int generation, double within);

  // The functions in shards.cc keep track of who holds what of a sharded optimizer state.
  void TakeShards(Process& process, int step);
  void ReleaseShards(Process& process);
  bool AreThere(const std::set<std::string>& processes, int step) const;

  // The functions in faults.cc plan what goes wrong.
  void PlanFaults();
  void OneFault();
  void KillTrainer(Process& process);
  void Freeze(Process& process);
  void KillAgent(SimNode& node);
  // Breaks the GPU of one of the node's slots for a while.
  void FailGpu(SimNode& node);
  void NoteEndOnGpu(SimNode& node, int slot, int code);
  void AskDriver(SimNode& node);
  void UseHealth(SimNode& node);
  void TellSlotFaults(const SimNode& node, v1::NodeReport* report);
  void KillCoordinator();
  void StopHearing();
  void KillNode(SimNode& node, bool silent);
  void ReturnNode(const std::string& name);
  void GiveNotice(SimNode& node);
  void Withdraw(const std::string& name);
  void Drain(const std::string& name);
  void Undrain(const std::string& name);
  void CutData(const std::string& name);
  void PauseOrResume();
  void KillAllOrAddNode();
  void Heal();
  void ResumeAll();
  SimJob& AnyJob();
  SimNode* AnyNode();
  std::vector<Process*> Running(const SimNode& node);
  Process* AnyOf(const SimNode& node);

  // The functions in checks.cc check what must hold whatever happens.
  static bool IsTakenOver(const SimJob& job, const v1::Membership& membership);
  void CheckMembership(SimJob& job, const v1::JobRecord& before, const v1::JobRecord& record);
  void CheckStatuses(const Effects& effects);
  void CheckReduction(const SimJob& job, const Fabric& fabric, int step);
  void CheckApplied(const Process& process, int generation, int step);
  void CheckNothingLost(SimJob& job, const v1::Membership& membership);
  bool CanBeHeard(const Process& process);

  // The function in durable.cc checks that no generation is formed below the newest durable checkpoint.
  void CheckDurable(SimJob& job, const v1::JobRecord& before, const v1::JobRecord& record);

  // The functions in copies.cc bring the coordinator's records back from a copy.
  void PlanCopies();
  void BringBackCopy();
  bool ReviveFromStores();
  void LookForOld(SimJob& job);
  void Listen();

  // The functions in found.cc follow jobs that were submitted after the copy was made.
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

  // The functions in spending.cc limit for how long a job may spend without the coordinator.
  void SetSpending(const v1::JobRecord& record);
  double SpendSeconds(const std::string& uid) const;
  void TellAlone(SimNode& node, double sent, double alone_seconds, double spend_seconds);
  void ConsiderEnd(SimNode& node);
  static bool KeepsFinalState(const Process& process);

  // The functions in bills.cc compare what jobs cost with what they may cost.
  const SimPool* PoolOf(const Process& process) const;
  void NoteBill(const v1::JobRecord& record);
  void BeginBill(Process& process);
  void CountRan(Process& process);
  bool IsPaidByOthers(const Process& process) const;
  void NotePayers(const v1::JobRecord& record);
  void CountAllRan();
  void NoteClockSetWhileAway();
  void CheckBill(SimJob& job, const v1::JobRecord& record);

  // The functions in budgets.cc model what users do about budgets.
  void FollowBudget(SimJob& job, const v1::JobRecord& before, const v1::JobRecord& record);
  void RaiseBudget(SimJob& job, int times);

  // The functions in prices.cc model what machines cost.
  PriceBook PricesOfPools() const;
  void ChangePrice();
  void KnowPrices();

  // The functions in leases.cc model leases.
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
  // `commits_` says that a turn is being saved. The next turn waits until it is saved.
  bool commits_ = false;
  bool lossy_ = true;
  double coordinator_since_ = 0;
  // `stalled_` is by how many seconds less time has passed for the core than for the coordinator's process.
  double stalled_ = 0;
  double database_fails_until_ = 0;
  double database_slow_until_ = 0;
  // `wall_offset_` is the difference between the coordinator's Unix time and the virtual time.
  double wall_offset_ = kUnixStart;
  // `told_offset_` and `told_stalled_` are the values of `wall_offset_` and `stalled_` that the core knows.
  double told_offset_ = kUnixStart;
  double told_stalled_ = 0;
  // `saved_offset_` is the value of `wall_offset_` that the core knew when the newest records were saved.
  double saved_offset_ = kUnixStart;
  // `named_` is the number of nodes so far that nobody ordered.
  int named_ = 0;
  // `jobs_` holds the simulated jobs, and `records_` what the coordinator has saved of them. Both have the job's uid as
  // key.
  std::map<std::string, SimJob> jobs_;
  std::map<std::string, v1::JobRecord> records_;
  std::map<std::string, v1::NodeRecord> node_records_;
  std::map<std::string, v1::JobRecord> copied_records_;
  std::map<std::string, v1::NodeRecord> copied_node_records_;
  int epoch_ = 1;
  double brought_back_at_ = 0;
  bool listens_first_ = false;
  std::map<std::string, v1::PoolRecord> pool_records_;
  // `leases_` holds what the coordinator's server knows of each job's lease. `spend_until_` holds the time until which
  // a job may spend, and has only jobs whose spending is limited. Both have the job's uid as key.
  std::map<std::string, SimLease> leases_;
  std::map<std::string, double> spend_until_;
  std::map<std::string, SimNode> nodes_;
  std::map<std::string, SimPool> pools_;
  std::map<std::string, Process> processes_;
  // `blocked_` holds pairs of nodes that have no data connection.
  std::set<std::pair<std::string, std::string>> blocked_;
  std::deque<std::string> journal_;
  Tally tally_;
  std::string violation_;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_SIM_CLUSTER_H_
