// Checks that no generation is formed below the newest durable checkpoint that the coordinator has recorded and that is
// not damaged.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "tests/simulation/sim_cluster.h"

namespace rekindle::core::simulation {

void SimCluster::CheckDurable(SimJob& job, const v1::JobRecord& before, const v1::JobRecord& record) {
  const v1::Checkpointed& found = record.checkpoint();
  if (!found.manifest().empty()) job.recorded.insert(found.manifest());
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
