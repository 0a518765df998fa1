// Plays the coordinator of a scenario: the cluster, what was saved of it, and its clocks. This is for tests only.
#ifndef REKINDLE_COORDINATOR_CORE_SCENARIO_SCENARIO_COORDINATOR_H_
#define REKINDLE_COORDINATOR_CORE_SCENARIO_SCENARIO_COORDINATOR_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "coordinator/core/cluster.h"
#include "coordinator/core/scenario/scenario_text.h"

namespace rekindle::core {

// ScenarioCoordinator is thread-compatible.
class ScenarioCoordinator {
 public:
  ScenarioCoordinator();

  const Cluster& cluster() const { return *cluster_; }
  double now() const { return now_; }
  double unix_now() const { return now_ + wall_offset_; }
  const std::map<std::string, v1::PoolRecord>& saved_pools() const { return saved_pools_; }

  // Adds a line to the answer to the present command.
  void Say(const std::string& line) { said_.push_back(line); }
  // Returns the lines that Say has added since the last call.
  std::vector<std::string> TakeSaid();

  // Hands the event to the cluster, which decides, or keeps the event while the coordinator stalls.
  void Feed(const Event& event);
  void Stall() { stalls_ = true; }
  // Lets the cluster decide in one turn with all events that have arrived since `Stall`.
  void CatchUp();
  // Lets `seconds` pass.
  void Tick(double seconds);
  // Sets the machine's clock, or lets the machine sleep. The coordinator's `now` does not see that.
  void MoveClock(double step, double slept);
  void SetPrices(const PriceBook& prices);
  void SetCarbon(const CarbonBook& carbon);
  // Notes that the server has just told members of the job that their generation stands, in an answer that the cluster
  // does not see.
  void NoteAnswer(const std::string& job_uid) { answered_[job_uid] = now_; }

  // Copies the saved records of jobs and nodes, as a backup does.
  void Backup();
  // Brings the saved records back from the copy that Backup made. The cluster that is started next listens first.
  void TakeCopyBack();
  // Loses the saved records, and revives the jobs of the copy from what their stores keep of them. The cluster that is
  // started next listens first.
  void Recover(const ScenarioOptions& options);
  // Damages a part of the job's saved record, as a disk may: `ranks`, `money` or `batch`.
  void Spoil(const std::string& job_uid, const std::string& part);
  // Starts another cluster from the saved records.
  void Restart(const ScenarioOptions& options);

  // Saves the job's file to its store.
  void SaveToStore(const std::string& job_uid, const ScenarioOptions& options);
  // Returns what the job's store keeps of the job.
  v1::StoredJob StoredOf(const std::string& job_uid) const;

 private:
  // Lets the cluster take all of `events` in one turn.
  void Decide(const std::vector<Event>& events);
  void Save(const Effects& effects);
  // Returns what precedes a line about the job: its name where there are several jobs, else nothing.
  std::string Prefix(const std::string& job) const;
  void BeginEpoch();

  Tunables tunables_;
  double now_ = 100;
  double wake_at_ = 0;
  std::unique_ptr<Cluster> cluster_;
  double wall_offset_ = 0;
  PriceBook prices_;
  CarbonBook carbon_;
  // `answered_` maps a job's uid to the last time when the server told its members that their generation stands
  // (NoteAnswer).
  std::map<std::string, double> answered_;
  std::map<std::string, v1::JobRecord> saved_jobs_;
  std::map<std::string, v1::NodeRecord> saved_nodes_;
  std::map<std::string, v1::PoolRecord> saved_pools_;
  // `stores_` maps a job's uid to what its store keeps of the job.
  std::map<std::string, v1::StoredJob> stores_;
  std::map<std::string, v1::JobRecord> copied_jobs_;
  std::map<std::string, v1::NodeRecord> copied_nodes_;
  int epoch_ = 1;
  double listens_until_ = 0;
  bool stalls_ = false;
  // `kept_` holds the events that have arrived while the coordinator stalls.
  std::vector<Event> kept_;
  std::vector<std::string> said_;
};

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_SCENARIO_SCENARIO_COORDINATOR_H_
