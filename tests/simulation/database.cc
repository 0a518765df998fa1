// Models the coordinator's database as coordinator/server/loop treats it. While the database cannot be written, nothing
// is decided and time stands still for the core. While it is slow, every answer waits.
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/simulation/sim_cluster.h"

namespace rekindle::core::simulation {
namespace {

constexpr double kRetrySeconds = 0.5;

}  // namespace

double SimCluster::CoreNow() const { return queue_.now() - stalled_; }

bool SimCluster::CanCommit() const { return queue_.now() >= database_fails_until_; }

void SimCluster::DatabaseFault() {
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

// Saves a turn's decisions as soon as the database allows it. Nobody hears of them before.
void SimCluster::AwaitDatabase(Turned turned, double since) {
  queue_.At(queue_.now() + kRetrySeconds,
            [this, turned = std::move(turned), since, life = coordinator_life_]() mutable {
              if (!coordinator_up_ || life != coordinator_life_) return;
              if (!CanCommit()) return AwaitDatabase(std::move(turned), since);
              stalled_ += queue_.now() - since;
              Publish(turned);
            });
}

}  // namespace rekindle::core::simulation
