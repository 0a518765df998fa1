#include "tests/simulation/checks/generations/losses.h"

#include <algorithm>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/simulation/coordinator/job_record.h"
#include "tests/simulation/exchange/shards.h"

namespace rekindle::core::simulation {

void LossCheck::JobSaved(const SimJob& job, const v1::JobRecord& before, const v1::JobRecord& now) {
  const v1::Membership& membership = now.membership();
  if (!FormsGeneration(job, before, now) || membership.step() >= job.completed) return;
  std::set<std::string> holders;
  for (const auto& [id, process] : world_.processes) {
    if (process.job == &job && process.report.step() >= job.completed && CanBeHeard(process)) holders.insert(id);
  }
  bool held = !holders.empty();
  if (job.options.sharded)
    held = AreThere(world_.processes, holders, job.completed) || AreThere(world_.processes, holders, job.completed + 1);
  if (!held) return;
  journal_.Violate(absl::StrCat("generation ", membership.generation(), " goes back to step ", membership.step(),
                                " although ", absl::StrJoin(holders, " and "), " live and hold step ", job.completed,
                                " or more, which was completed"));
}

bool LossCheck::CanBeHeard(const Process& process) const {
  const auto node = world_.nodes.find(process.node);
  // A trainer that is told to exit counts as one that cannot be heard. The coordinator gave this order when other
  // trainers had the state, and the trainer will exit before anybody can ask it for its state.
  const v1::TrainerDirective told = coordinator_.core().DirectiveForTrainer(process.job->uid, process.id);
  if (told.action() == v1::TrainerDirective::EXIT) return false;
  const auto known = coordinator_.records().nodes.find(process.node);
  const bool drains =
      node->second.draining || (known != coordinator_.records().nodes.end() && known->second.draining());
  if (!process.alive || drains || !process.report.has_state()) return false;
  const double silent_until = std::max({process.frozen_until, node->second.unheard_until, coordinator_.up_since()});
  return silent_until <= world_.now() - 3;
}

}  // namespace rekindle::core::simulation
