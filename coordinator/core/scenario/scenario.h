// Plays a scenario written as text against a Cluster and writes down what the cluster decided. So the files under
// testdata/, whose language testdata/README.md describes, can be read as the documentation of the protocol. This is for
// tests only.
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
  // Runs one command line, and returns the lines of the cluster's answer. A wrong command gives a line "error: ...".
  std::vector<std::string> Run(const std::string& line);

  // Returns, one line each, the statements in the jobs' statuses that are not true now.
  std::vector<std::string> Untruths() const;

 private:
  struct Command {
    // `words` are the words that are no options. The first one names the command.
    std::vector<std::string> words;
    ScenarioOptions options;

    // Returns the command's word at `index`, or an empty string where there are fewer words.
    std::string Word(size_t index) const { return index < words.size() ? words[index] : ""; }
  };
  using Handler = void (*)(Scenario& scenario, const Command& command);

  // Maps the names of commands to their handlers. A line that begins with any other name is a command to trainers.
  static const std::map<std::string, Handler>& Handlers();
  static Command Parse(const std::string& line);

  void Submit(const Command& command);
  void Node(const Command& command);
  // Puts into the report what the node's agent answers to the coordinator's questions, such as which trainers are
  // absent.
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
  // `uid_` is the job that commands without a job's name mean.
  std::string uid_;
  // `trainers_` maps a slot such as "n1/0" to the last report of its trainer, without its sequence number.
  std::map<std::string, v1::TrainerReport> trainers_;
  std::map<std::string, v1::NodeReport> nodes_;
  // `shown_` maps a trainer or a node to its directive as it was written down last.
  std::map<std::string, std::string> shown_;
  // `wanted_` maps the uid of a job to what agents were told to run of it.
  std::map<std::string, v1::DesiredTrainer> wanted_;
};

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_SCENARIO_SCENARIO_H_
