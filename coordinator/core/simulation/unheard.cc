// The coordinator hears none of some nodes for a while, although these hear each other. Members of a generation that is
// given up meanwhile are not told so, and go on: that is known, and told apart from everything else.
#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "coordinator/core/simulation/world.h"

namespace rekindle::core::simulation {

// Often just those that train.
void World::StopHearing() {
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
    if (node.unheard_until < queue_.now()) node.unheard_from = queue_.now();
    node.unheard_until = std::max(node.unheard_until, until);
  }
  Note(absl::StrCat("nothing is heard of ", absl::StrJoin(names, " and "), " until ", until));
  tally_.Count(Fault::kNodesUnheard);
}

// Only where all of its members were out of reach together, and so long that they may have been given up: any other
// could be asked, and would have stopped.
void World::MarkReplaced(SimJob& job, const v1::Membership& before, const v1::Membership& next) {
  constexpr double kMayBeGivenUp = 2;
  double from = job.formed_at, until = queue_.now();
  for (const v1::Member& member : before.members()) {
    from = std::max(from, nodes_[member.node()].unheard_from);
    until = std::min(until, nodes_[member.node()].unheard_until);
  }
  if (before.members_size() > 0 && until - from >= kMayBeGivenUp)
    job.replaced_unheard[before.generation()] = next.step();
  job.formed_at = queue_.now();
}

// READY, it is a replica like any other.
bool World::WentOnUnheard(const Process& process) {
  const v1::TrainerReport& report = process.report;
  return report.phase() != v1::TRAINER_READY && WentOnUnheard(*process.job, report.generation(), report.step());
}

// Whether that step of it lies beyond where another generation has taken over.
bool World::WentOnUnheard(const SimJob& job, int generation, int step) {
  const auto replaced = job.replaced_unheard.find(generation);
  return replaced != job.replaced_unheard.end() && step > replaced->second;
}

}  // namespace rekindle::core::simulation
