// Test-only: a trainer of a scenario, which is what it last reported.
#ifndef REKINDLE_COORDINATOR_CORE_SCENARIO_TRAINER_H_
#define REKINDLE_COORDINATOR_CORE_SCENARIO_TRAINER_H_

#include <string>
#include <vector>

#include "coordinator/core/scenario_text.h"
#include "rekindle/v1/membership.pb.h"
#include "rekindle/v1/trainer.pb.h"

namespace rekindle::core {

// A new process, READY. `name` is its node and slot: "n1/0".
v1::TrainerReport NewTrainer(const std::string& name, int incarnation, const std::string& job_uid,
                             const std::string& secret);
// What a command says of it (testdata/README.md). Returns a line "error: ..." for each option that is none.
std::vector<std::string> SetFields(const ScenarioOptions& options, v1::TrainerReport& report);
// Does what it was told, at once and without trouble.
void FollowDirective(const v1::TrainerDirective& directive, v1::TrainerReport& report);
// It has made so many steps more, whole ones.
void CompleteSteps(const v1::Membership& membership, int count, v1::TrainerReport& report);
// Its share of a step: the interrupted one that the membership tells of, or else of a `whole` one.
void AssignRange(const v1::Membership& membership, bool whole, v1::TrainerReport& report);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_SCENARIO_TRAINER_H_
