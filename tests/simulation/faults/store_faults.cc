#include "tests/simulation/faults/store_faults.h"

#include "absl/strings/str_cat.h"

namespace rekindle::core::simulation {

void StoreFaults::Spoil() {
  SimJob& job = world_.AnyJob();
  const double until = world_.now() + world_.chance.Uniform(2, 20);
  const int kind = world_.chance.Pick(4);
  if (kind == 0) {
    world_.journal.Count(Fault::kStoreFull);
    job.store_full_until = until;
    world_.journal.Note(absl::StrCat("the store of ", job.uid, " takes nothing until ", until));
  } else if (kind == 3) {
    if (!DamageNewest(job)) return;
  } else {
    TakeAway(kind == 1, until);
  }
  if (world_.chance.Happens(0.6)) {
    const bool all = world_.chance.Happens(0.5);
    world_.After(world_.chance.Uniform(0, 3), [this, all] { trainer_faults_.KillHolders(all); });
  }
}

void StoreFaults::TakeAway(bool away, double until) {
  const bool all = world_.chance.Happens(0.4);
  for (auto& [name, node] : world_.nodes) {
    if (!all && world_.chance.Happens(0.5)) continue;
    world_.journal.Count(away ? Fault::kStoreAway : Fault::kStoreUnmounted);
    (away ? node.store_away_until : node.unmounted_until) = until;
    world_.journal.Note(
        absl::StrCat(away ? "stores do not answer " : "stores are not mounted on ", name, " until ", until));
  }
}

bool StoreFaults::DamageNewest(SimJob& job) {
  SavedCheckpoint* newest = nullptr;
  int whole = 0;
  for (SavedCheckpoint& saved : job.store) {
    whole += saved.damage == Damage::kNone;
    if (newest == nullptr || saved.step >= newest->step) newest = &saved;
  }
  if (whole < 2 || newest->damage != Damage::kNone) return false;
  newest->damage = world_.chance.Happens(0.7) ? Damage::kShard : Damage::kManifest;
  world_.journal.Count(Fault::kCheckpointDamaged);
  world_.journal.Note(
      absl::StrCat("checkpoint ", ManifestOf(newest->generation, newest->step), " of ", job.uid, " is damaged"));
  return true;
}

}  // namespace rekindle::core::simulation
