#include "tests/simulation/checks/generations/sim_durable.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/simulation/coordinator/job_record.h"

namespace rekindle::core::simulation {
namespace {

// Returns whether the job has gone back from its newest checkpoint, which is damaged, to an older one.
bool GivesUpDamaged(const v1::JobRecord& before, const v1::JobRecord& record) {
  const auto& damaged = record.damaged_checkpoints();
  return record.checkpoint().manifest() != before.checkpoint().manifest() &&
         std::find(damaged.begin(), damaged.end(), before.checkpoint().manifest()) != damaged.end();
}

}  // namespace

void DurableCheck::JobSaved(const SimJob& job, const v1::JobRecord& before, const v1::JobRecord& now) {
  if (TakesOver(job, before, now)) return;
  std::set<std::string>& recorded = recorded_[job.uid];
  const v1::Checkpointed& found = now.checkpoint();
  if (!found.manifest().empty()) recorded.insert(found.manifest());
  if (GivesUpDamaged(before, now)) {
    // Checkpoints are older or newer by their names. So those of earlier generations than the one that the job goes
    // back to do not count, even where their step is higher.
    for (const SavedCheckpoint& saved : job.store) {
      const bool is_older = std::pair(saved.generation, saved.step) < std::pair(found.generation(), found.step());
      if (is_older) recorded.erase(ManifestOf(saved.generation, saved.step));
    }
  }
  const v1::Membership& membership = now.membership();
  if (membership.generation() == before.membership().generation()) return;
  for (const SavedCheckpoint& saved : job.store) {
    const std::string manifest = ManifestOf(saved.generation, saved.step);
    if (saved.damage != Damage::kNone || membership.step() >= saved.step) continue;
    if (!recorded.count(manifest)) continue;
    journal_.Violate(absl::StrCat("generation ", membership.generation(), " is formed at step ", membership.step(),
                                  " although checkpoint ", manifest, " of step ", saved.step,
                                  " was recorded as durable"));
  }
}

}  // namespace rekindle::core::simulation
