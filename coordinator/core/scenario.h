// Test-only: plays a scenario written as text against a Cluster and writes down what it decided, so that the files
// under testdata/ can be read as the documentation of the protocol. testdata/README.md describes the language.
#ifndef REKINDLE_COORDINATOR_CORE_SCENARIO_H_
#define REKINDLE_COORDINATOR_CORE_SCENARIO_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "coordinator/core/cluster.h"
#include "coordinator/core/scenario_text.h"

namespace rekindle::core {

class Scenario {
 public:
  Scenario();

  // Runs one command line; returns what came of it, one line each. A line "error: ..." for a wrong command.
  std::vector<std::string> Run(const std::string& line);

  // What the statuses of jobs say now and is not so; one line each.
  std::vector<std::string> Untruths() const;

 private:
  using Words = std::vector<std::string>;
  using Options = ScenarioOptions;

  void Feed(const Event& event);
  void Decide(const std::vector<Event>& events);  // It takes all of them in one turn.
  void Stall(bool stalls);
  void Submit(const std::string& name, const Options& options);
  void Node(const Words& words, const Options& options);
  void Trainer(const std::string& name, const Words& words, const Options& options);
  void Interrupt(const std::string& name);
  void Steps(const std::string& name, int count);
  void Report(const std::string& name);
  void Tick(double seconds);
  void Live(double seconds);
  void Backup();
  void Recover(const Options& options);
  void Restart(const Options& options);
  v1::TrainerDirective DirectiveFor(const v1::TrainerReport& report) const;
  std::string JobAt(const std::string& slot) const;  // Which job that slot is to serve.
  std::string Prefix(const std::string& job) const;  // Of what is said of a job, where there are several.
  void SaveToStore(const Options& options);
  v1::StoredJob StoredOf(const std::string& uid) const;
  void ShowGrant();
  void ShowStatus();
  void ShowMembers();
  void ShowDirectives();
  void Say(const std::string& line) { said_.push_back(line); }
  std::vector<std::string> Names(const std::string& word) const;  // "all", or a comma separated list.

  Tunables tunables_;
  double now_ = 100;
  double wake_at_ = 0;
  std::unique_ptr<Cluster> cluster_;
  double wall_offset_ = 0;
  PriceBook prices_;
  CarbonBook carbon_;
  std::string uid_;
  std::map<std::string, v1::TrainerReport> trainers_;  // "n1/0" -> what it last said, without sequence.
  std::map<std::string, v1::NodeReport> nodes_;
  std::map<std::string, std::string> shown_;  // Trainer or node -> directive as last written down.
  std::map<std::string, double> answered_;    // When members of a job were last told, by the command of that name.
  std::map<std::string, v1::JobRecord> saved_jobs_;
  std::map<std::string, v1::NodeRecord> saved_nodes_;
  std::map<std::string, v1::DesiredTrainer> wanted_;  // By uid: what agents were told to run.
  std::map<std::string, v1::StoredJob> stores_;       // What each job's store keeps of it; the key is the uid.
  std::map<std::string, v1::JobRecord> copied_jobs_;  // By the command of that name.
  std::map<std::string, v1::NodeRecord> copied_nodes_;
  int epoch_ = 1;
  double listens_until_ = 0;
  bool stalls_ = false;
  std::vector<Event> kept_;  // These have arrived while it stalls.
  std::map<std::string, v1::PoolRecord> saved_pools_;
  std::vector<std::string> said_;
};

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_SCENARIO_H_
