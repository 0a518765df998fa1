// Plays a scenario written as text against a Cluster and writes down what it decided. So the files under testdata/ can
// be read as the documentation of the protocol, whose language testdata/README.md describes. This is for tests only.
#ifndef REKINDLE_COORDINATOR_CORE_SCENARIO_SCENARIO_H_
#define REKINDLE_COORDINATOR_CORE_SCENARIO_SCENARIO_H_

#include <map>
#include <string>
#include <vector>

#include "coordinator/core/scenario/scenario_coordinator.h"
#include "coordinator/core/scenario/scenario_text.h"

namespace rekindle::core {

class Scenario {
 public:
  // Runs one command line, and returns what came of it, one line each. A wrong command gives a line "error: ...".
  std::vector<std::string> Run(const std::string& line);

  // Returns what the statuses of jobs say now that is not true, one line each.
  std::vector<std::string> Untruths() const;

 private:
  struct Command {
    // These words are no options. The first one names the command.
    std::vector<std::string> words;
    ScenarioOptions options;

    // Returns an empty string where there are fewer words.
    std::string Word(size_t index) const { return index < words.size() ? words[index] : ""; }
  };
  using Handler = void (*)(Scenario& scenario, const Command& command);

  // Maps names to commands. All other names are commands to trainers.
  static const std::map<std::string, Handler>& Handlers();
  static Command Parse(const std::string& line);

  void Submit(const Command& command);
  void Node(const Command& command);
  // Adds what the coordinator has asked the node's agent to the report.
  void AnswerDirective(const std::string& node, v1::NodeReport& report) const;
  void Trainers(const Command& command);
  void Trainer(const std::string& name, const Command& command);
  void Vanish(const Command& command);
  void Report(const std::string& name);
  // Lets time pass while all nodes and trainers report.
  void Live(double seconds);
  void Restart(const Command& command);
  v1::TrainerDirective DirectiveFor(const v1::TrainerReport& report) const;
  // Returns the uid of the job that the slot has to serve.
  std::string JobAt(const std::string& slot) const;
  void ShowCosts();
  void ShowNeverRegistered();
  void ShowGrant();
  void ShowStatus();
  void ShowMembers();
  void ShowDirectives();
  void Show(const std::string& name, const std::string& directive);
  const v1::JobRecord* FindJob() const { return coordinator_.cluster().FindJob(uid_); }
  void Say(const std::string& line) { coordinator_.Say(line); }
  // Returns the trainers that `word` names, which is "all" or a comma separated list.
  std::vector<std::string> Names(const std::string& word) const;

  ScenarioCoordinator coordinator_;
  // Commands without a job's name mean this job.
  std::string uid_;
  // `trainers_` maps "n1/0" to what that trainer last reported, without its sequence number.
  std::map<std::string, v1::TrainerReport> trainers_;
  std::map<std::string, v1::NodeReport> nodes_;
  // `shown_` maps a trainer or a node to its directive as that was last written down.
  std::map<std::string, std::string> shown_;
  // `wanted_` is, by uid, what agents were told to run.
  std::map<std::string, v1::DesiredTrainer> wanted_;
};

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_SCENARIO_SCENARIO_H_
