// Plays the agent of a scenario's node. The agent is represented by its last report. This is for tests only.
#ifndef REKINDLE_COORDINATOR_CORE_SCENARIO_SCENARIO_NODE_H_
#define REKINDLE_COORDINATOR_CORE_SCENARIO_SCENARIO_NODE_H_

#include <string>
#include <vector>

#include "coordinator/core/scenario/scenario_text.h"
#include "rekindle/v1/node.pb.h"
#include "rekindle/v1/trainer.pb.h"

namespace rekindle::core {

// Returns the key by which a scenario tells machines apart that report under the same node's name.
std::string MachineKey(const std::string& node, const ScenarioOptions& options);

// Sets in the node's report what a command says of the node (testdata/README.md), and what every report has. `key` is
// what `MachineKey` returns.
void SetNodeFields(const std::string& node, const std::string& key, const ScenarioOptions& options,
                   v1::NodeReport& report);

// Lets the node report that a trainer's process has exited.
void AddExit(const v1::TrainerReport& trainer, int exit_code, const ScenarioOptions& options, v1::NodeReport& report);

// Returns whether the word of a command says that a new machine comes back under the node's name.
bool IsNewMachine(const std::string& what);

// Lets happen to the node what the word of a command says: "replaced", "wiped", "restarted", "draining", "withdrawn",
// "slot_failed", "slots_mended", "not_started", "started" or "hint". Any other word changes nothing.
void ChangeNode(const std::string& what, const ScenarioOptions& options, v1::NodeReport& report);

// Lets the node report that `trainers` run on it, and no others.
void ListRunning(const std::vector<const v1::TrainerReport*>& trainers, v1::NodeReport& report);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_SCENARIO_SCENARIO_NODE_H_
