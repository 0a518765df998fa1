// Plays a trainer of a scenario. The trainer is represented by its last report. This is for tests only.
#ifndef REKINDLE_COORDINATOR_CORE_SCENARIO_SCENARIO_TRAINER_H_
#define REKINDLE_COORDINATOR_CORE_SCENARIO_SCENARIO_TRAINER_H_

#include <string>
#include <vector>

#include "coordinator/core/scenario/scenario_text.h"
#include "rekindle/v1/membership.pb.h"
#include "rekindle/v1/trainer.pb.h"

namespace rekindle::core {

// Returns the report of a new trainer process, which is READY. `name` is its node and slot, such as "n1/0".
v1::TrainerReport NewTrainer(const std::string& name, int incarnation, const std::string& job_uid,
                             const std::string& secret);
// Sets in the trainer's report what a command says of the trainer (testdata/README.md). Returns a line "error: ..." for
// each unknown option.
std::vector<std::string> SetFields(const ScenarioOptions& options, v1::TrainerReport& report);
// Lets the trainer do what it was told, at once and without trouble.
void FollowDirective(const v1::TrainerDirective& directive, v1::TrainerReport& report);
// Lets the trainer complete `count` more whole steps.
void CompleteSteps(const v1::Membership& membership, int count, v1::TrainerReport& report);
// Assigns the trainer its share of a step: of a whole one if `whole`, else of the interrupted one that the membership
// describes.
void AssignRange(const v1::Membership& membership, bool whole, v1::TrainerReport& report);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_SCENARIO_SCENARIO_TRAINER_H_
