#include "tests/simulation/checks/statuses.h"

#include <string>

#include "coordinator/core/testing/status_check.h"

namespace rekindle::core::simulation {

void StatusCheck::TurnDecided(const Turn& turn) {
  for (const std::string& uid : turn.effects.changed_jobs) {
    const v1::JobRecord* record = coordinator_.core().FindJob(uid);
    if (record == nullptr) continue;
    if (const std::string untruth = FindUntruth(*record); !untruth.empty()) journal_.Violate(untruth);
  }
}

}  // namespace rekindle::core::simulation
