#include "tests/simulation/checks/sim_adoption.h"

#include "absl/strings/str_cat.h"
#include "tests/simulation/trainers/store_view.h"

namespace rekindle::core::simulation {
namespace {

// A user looks for a missed job every `kLookSeconds`.
constexpr double kLookSeconds = 1;
// A found job is taken over within `kProofSeconds` if its store says whose job it is.
constexpr double kProofSeconds = 10;

}  // namespace

void AdoptionCheck::JobIsMissed(const SimJob& job, bool is_found) {
  double& provable_for = provable_for_[job.uid];
  provable_for = is_found && IsProvable(job) ? provable_for + kLookSeconds : 0;
  if (provable_for <= kProofSeconds) return;
  journal_.Violate(absl::StrCat(job.uid, " is found, its store says whose it is, and it is not taken over: ",
                                coordinator_.core().FindJob(job.uid)->job().status().reason()));
}

bool AdoptionCheck::IsProvable(const SimJob& job) const {
  if (!coordinator_.database().CanCommit() || coordinator_.database().IsSlow() || job.lost.stored.job_uid().empty())
    return false;
  bool any = false;
  for (const auto& [id, process] : world_.processes) {
    if (!process.alive || process.job != &job) continue;
    const SimNode& node = world_.nodes.at(process.node);
    const bool is_heard = node.agent && node.unheard_until <= world_.now() && process.frozen_until <= world_.now();
    if (!is_heard || !CanRead(world_, process) || node.draining) return false;
    any = any || In(process, process.report.generation());
  }
  return any;
}

}  // namespace rekindle::core::simulation
