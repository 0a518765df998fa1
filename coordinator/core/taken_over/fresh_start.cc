#include "coordinator/core/taken_over/fresh_start.h"

#include <algorithm>
#include <utility>
#include <vector>
#include "absl/strings/str_cat.h"
#include "coordinator/core/members/deaths.h"

namespace rekindle::core {

void StartWaitingAnew(const Turn& turn, Job& job) {
  if (IsOver(job)) return;
  std::vector<std::string> waiting;
  for (const auto& [id, trainer] : job.trainers) {
    const bool waits = trainer.reported && trainer.death.empty() && trainer.report.phase() == v1::TRAINER_READY;
    if (waits && FindMember(job, id) == nullptr) waiting.push_back(id);
  }
  for (const std::string& id : waiting) {
    RecordRelease(turn, job, id,
                  "starts anew to look into the store again: the coordinator's records were brought back");
  }
}

}  // namespace rekindle::core
