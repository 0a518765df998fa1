// Test-only: how scenarios write down memberships and directives.
#ifndef REKINDLE_COORDINATOR_CORE_SCENARIO_TEXT_H_
#define REKINDLE_COORDINATOR_CORE_SCENARIO_TEXT_H_

#include <string>
#include <vector>

#include "rekindle/v1/membership.pb.h"
#include "rekindle/v1/node.pb.h"
#include "rekindle/v1/trainer.pb.h"

namespace rekindle::core {

std::vector<std::string> DescribeMembership(const v1::Membership& membership);
std::string DescribeDirective(const v1::TrainerDirective& directive);
std::string DescribeDirective(const v1::NodeDirective& directive);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_SCENARIO_TEXT_H_
