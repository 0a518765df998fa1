#include "coordinator/core/certainty/certainty.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace rekindle::core {

bool HasEnded(const Job& job) { return job.record.ended_generation() >= job.record.membership().generation(); }

bool IsGone(const Job& job, const Trainer& trainer) {
  if (trainer.death.empty()) return false;
  return IsMemberGone(job, trainer) || FindMember(job, trainer.report.trainer()) == nullptr;
}

bool IsMemberGone(const Job& job, const Trainer& trainer) {
  return !trainer.death.empty() && (trainer.certain || HasEnded(job));
}

bool IsSameMachine(const v1::Machine& a, const v1::Machine& b) {
  return !a.boot().empty() && a.boot() == b.boot() && a.processes() == b.processes();
}

bool WasBootedAgain(const v1::Machine& before, const v1::Machine& now) {
  return !before.hardware().empty() && before.hardware() == now.hardware() && !before.boot().empty() &&
         !now.boot().empty() && before.boot() != now.boot();
}

bool ListsRunning(const NodeState& node, const std::string& trainer) {
  for (const v1::TrainerProcess& process : node.report.trainers()) {
    if (process.running() && process.trainer() == trainer) return true;
  }
  return false;
}

}  // namespace rekindle::core
