#include "tests/simulation/nodes/strangers.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace rekindle::core::simulation {

void Strangers::Change(SimNode& node) {
  // The first trainer decides which data and arithmetic are right, so no node is changed before each job has had a
  // generation.
  for (const auto& [uid, job] : world_.jobs) {
    if (coordinator_.records().jobs.at(uid).membership().generation() == 0) return;
  }
  const bool data = world_.chance.Happens(0.5);
  world_.journal.Count(data ? Fault::kOtherData : Fault::kOtherProbe);
  world_.journal.Note(absl::StrCat("node ", node.name, data ? " reads other data" : " computes otherwise"));
  (data ? node.data : node.probe) = "another";
}

bool Strangers::AnyIsThere() const {
  return std::any_of(world_.nodes.begin(), world_.nodes.end(),
                     [](const auto& node) { return node.second.data != kData || node.second.probe != kProbe; });
}

void Strangers::MendAll() {
  for (auto& [name, node] : world_.nodes) {
    if (node.data == kData && node.probe == kProbe) continue;
    node.data = kData;
    node.probe = kProbe;
    for (Process* process : world_.Running(node)) supervisor_.Stop(*process, -9, false);
  }
}

}  // namespace rekindle::core::simulation
