// Checks that no generation is formed below the newest durable checkpoint that the coordinator has recorded and that is
// not damaged.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/simulation/sim_cluster.h"

namespace rekindle::core::simulation {
namespace {

// Returns whether the job has gone back from its newest checkpoint, which is damaged, to an older one.
bool GivesUpDamaged(const v1::JobRecord& before, const v1::JobRecord& record) {
  const auto& damaged = record.damaged_checkpoints();
  return record.checkpoint().manifest() != before.checkpoint().manifest() &&
         std::find(damaged.begin(), damaged.end(), before.checkpoint().manifest()) != damaged.end();
}

}  // namespace

void SimCluster::CheckDurable(SimJob& job, const v1::JobRecord& before, const v1::JobRecord& record) {
  const v1::Checkpointed& found = record.checkpoint();
  if (!found.manifest().empty()) job.recorded.insert(found.manifest());
  if (GivesUpDamaged(before, record)) {
    // Checkpoints are older or newer by their names. So those of earlier generations than the one that the job goes
    // back to do not count, even where their step is higher.
    for (const SavedCheckpoint& saved : job.store) {
      const bool is_older = std::pair(saved.generation, saved.step) < std::pair(found.generation(), found.step());
      if (is_older) job.recorded.erase(ManifestOf(saved.generation, saved.step));
    }
  }
  const v1::Membership& membership = record.membership();
  if (membership.generation() == before.membership().generation()) return;
  for (const SavedCheckpoint& saved : job.store) {
    const std::string manifest = ManifestOf(saved.generation, saved.step);
    if (saved.damage != Damage::kNone || membership.step() >= saved.step) continue;
    if (!job.recorded.count(manifest)) continue;
    Violate(absl::StrCat("generation ", membership.generation(), " is formed at step ", membership.step(),
                         " although checkpoint ", manifest, " of step ", saved.step, " was recorded as durable"));
  }
}

}  // namespace rekindle::core::simulation
