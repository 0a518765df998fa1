// Models times in which the coordinator hears nothing from some nodes, although these nodes hear each other.
#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/simulation/sim_cluster.h"

namespace rekindle::core::simulation {

// Cuts some nodes off from the coordinator for a while. Often these are just the nodes that train.
void SimCluster::StopHearing() {
  std::set<std::string> names;
  if (chance_.Happens(0.6)) {
    for (const v1::Member& member : records_[AnyJob().uid].membership().members()) names.insert(member.node());
  }
  for (const auto& [name, node] : nodes_) {
    if (names.empty() && chance_.Happens(0.5)) names.insert(name);
  }
  SimNode* any = names.empty() ? AnyNode() : nullptr;
  if (any != nullptr) names.insert(any->name);
  const double until = queue_.now() + chance_.Uniform(5, 40);
  for (const std::string& name : names) {
    SimNode& node = nodes_[name];
    node.unheard_until = std::max(node.unheard_until, until);
  }
  Note(absl::StrCat("nothing is heard of ", absl::StrJoin(names, " and "), " until ", until));
  tally_.Count(Fault::kNodesUnheard);
}

}  // namespace rekindle::core::simulation
