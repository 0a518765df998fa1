#include "coordinator/fleet/simulator/job_goals.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/agreed/agreed_limits.h"
#include "common/spec/field_check.h"
#include "coordinator/market/goal_words.h"

namespace rekindle::fleet {
namespace {

// Checks that a field holds one of the known words, or none.
absl::Status CheckWord(const std::string& field, const std::string& word, const std::vector<std::string>& known) {
  return word.empty() ? absl::OkStatus() : common::CheckOneOf(field, word, known);
}

}  // namespace

absl::StatusOr<FleetJob> ResolveGoals(const v1::JobSpec& spec) {
  const auto& goals = spec.goals();
  const auto& estimate = spec.estimate();
  if (spec.training().steps() < 1)
    return common::WrongField("spec.training.steps", "is missing: say how many steps the job takes");
  if (estimate.step_seconds() <= 0) {
    return common::WrongField("spec.estimate.step_seconds",
                              "is missing: how long one step takes on spec.workers.max nodes");
  }
  if (goals.deadline_hours() < 0) {
    return common::WrongField("spec.goals.deadline_hours",
                              absl::StrCat(goals.deadline_hours(), " is in the past: give hours from the submit on"));
  }
  for (const absl::Status& s : {common::CheckRange("spec.goals.deadline_hours", goals.deadline_hours(), 0, 1e5),
                                common::CheckRange("spec.goals.budget", goals.budget(), 0, 1e12),
                                common::CheckRange("spec.estimate.step_seconds", estimate.step_seconds(), 0, 1e6),
                                common::CheckRange("spec.estimate.start_seconds", estimate.start_seconds(), 0, 86400),
                                common::CheckRange("spec.estimate.pause_seconds", estimate.pause_seconds(), 0, 3600),
                                common::CheckRange("spec.estimate.node_watts", estimate.node_watts(), 0, 1e6),
                                common::CheckRange("spec.workers.max", spec.workers().max(), 0, common::kMaxWorldSize),
                                common::CheckRange("spec.workers.min", spec.workers().min(), 0, common::kMaxWorldSize),
                                CheckWord("spec.goals.objective", goals.objective(), core::ObjectiveWords()),
                                CheckWord("spec.goals.capacity", goals.capacity(), core::AllowedWords())}) {
    if (!s.ok()) return s;
  }
  if (spec.workers().max() < 1)
    return common::WrongField("spec.workers.max", "is missing: say on how many nodes the job may run");
  if (spec.workers().min() > spec.workers().max())
    return common::WrongField("spec.workers.min", "is above spec.workers.max");
  FleetJob job;
  job.min = std::max(1, spec.workers().min());
  job.max = std::max(job.min, spec.workers().max());
  job.hours = spec.training().steps() * estimate.step_seconds() / 3600;
  if (goals.deadline_hours() > 0) job.deadline = goals.deadline_hours();
  if (goals.budget() > 0) job.budget = goals.budget();
  job.start_hours = (estimate.has_start_seconds() ? estimate.start_seconds() : 180) / 3600;
  job.pause_hours = (estimate.has_pause_seconds() ? estimate.pause_seconds() : 1) / 3600;
  job.policy.objective = core::ObjectiveOf(goals.objective());
  job.policy.capacity = core::AllowedOf(goals.capacity());
  return job;
}

}  // namespace rekindle::fleet
