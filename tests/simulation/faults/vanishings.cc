#include "tests/simulation/faults/vanishings.h"

#include <string>

#include "tests/simulation/coordinator/job_record.h"

namespace rekindle::core::simulation {
namespace {

// A message between a node and the coordinator takes less time than `kAround`.
constexpr double kAround = 0.05;

}  // namespace

void Vanishings::JobSaved(const SimJob& job, const v1::JobRecord& before, const v1::JobRecord& now) {
  const v1::Membership& membership = now.membership();
  if (armed_ == 0 || membership.members_size() < 2 || !FormsGeneration(job, before, now)) return;
  --armed_;
  const std::string name = membership.members(world_.chance.Pick(membership.members_size())).node();
  world_.After(world_.chance.Uniform(0, kAround), [this, name] { machines_.Vanish(world_.nodes[name]); });
}

}  // namespace rekindle::core::simulation
