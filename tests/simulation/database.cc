// The coordinator's database, as coordinator/server/{loop,loop_outage}.cc live with it: while it cannot be written
// nothing is decided and time stands still for the core; while it is slow every answer waits.
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/simulation/world.h"

namespace rekindle::core::simulation {
namespace {

constexpr double kRetrySeconds = 0.5;

}  // namespace

double World::CoreNow() const { return queue_.now() - stalled_; }

bool World::CanCommit() const { return queue_.now() >= database_fails_until_; }

void World::DatabaseFault() {
  const double until = queue_.now() + chance_.Uniform(0.5, chance_.Happens(0.2) ? 60 : 10);
  if (chance_.Happens(0.5)) {
    tally_.Count(Fault::kDatabaseFails);
    Note(absl::StrCat("the coordinator's database cannot be written until ", until));
    database_fails_until_ = until;
  } else {
    tally_.Count(Fault::kDatabaseSlow);
    Note(absl::StrCat("the coordinator's database is slow until ", until));
    database_slow_until_ = until;
  }
}

// What was decided is saved as soon as it can be, and nobody hears of it before.
void World::AwaitDatabase(Turned turned, double since) {
  queue_.At(queue_.now() + kRetrySeconds,
            [this, turned = std::move(turned), since, life = coordinator_life_]() mutable {
              if (!coordinator_up_ || life != coordinator_life_) return;
              if (!CanCommit()) return AwaitDatabase(std::move(turned), since);
              stalled_ += queue_.now() - since;
              Publish(turned);
            });
}

}  // namespace rekindle::core::simulation
