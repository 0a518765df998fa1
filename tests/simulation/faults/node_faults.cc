#include "tests/simulation/faults/node_faults.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace rekindle::core::simulation {

void NodeFaults::KillAgent(SimNode& node) {
  world_.journal.Note(absl::StrCat("agent of ", node.name, " is killed"));
  world_.journal.Count(Fault::kAgentKilled);
  node.agent = false;
  world_.After(world_.chance.Uniform(0.2, 2), [this, name = node.name] { machines_.Return(name); });
}

void NodeFaults::GiveNotice(SimNode& node) {
  const std::string name = node.name;
  world_.journal.Count(Fault::kNodeNoticed);
  node.draining = true;
  if (world_.chance.Happens(0.4)) world_.After(world_.chance.Uniform(0.1, 3), [this, name] { Withdraw(name); });
  world_.After(world_.chance.Uniform(3, 8), [this, name] { machines_.Return(name); });
}

void NodeFaults::Drain(const std::string& name) {
  world_.journal.Note(absl::StrCat("drain ", name));
  world_.journal.Count(Fault::kNodeDrained);
  coordinator_.Feed(DrainNode{name, world_.chance.Happens(0.5) ? world_.chance.Uniform(0.2, 3) : 0, "asked"});
  if (world_.chance.Happens(0.3)) world_.After(world_.chance.Uniform(0.01, 2), [this, name] { Undrain(name); });
  world_.After(world_.chance.Uniform(3, 8), [this, name] { machines_.Return(name); });
}

void NodeFaults::CutData(const std::string& name) {
  const std::string other = world_.AnyNode()->name;
  if (other == name) return;
  const std::pair<std::string, std::string> pair{std::min(name, other), std::max(name, other)};
  world_.journal.Note(absl::StrCat("no data between ", pair.first, " and ", pair.second));
  world_.journal.Count(Fault::kDataCut);
  world_.blocked.insert(pair);
  world_.After(world_.chance.Uniform(0.5, 8), [this, pair] { world_.blocked.erase(pair); });
}

void NodeFaults::StopHearing() {
  std::set<std::string> names;
  if (world_.chance.Happens(0.6)) {
    for (const v1::Member& member : coordinator_.records().jobs.at(world_.AnyJob().uid).membership().members())
      names.insert(member.node());
  }
  for (const auto& [name, node] : world_.nodes) {
    if (names.empty() && world_.chance.Happens(0.5)) names.insert(name);
  }
  SimNode* any = names.empty() ? world_.AnyNode() : nullptr;
  if (any != nullptr) names.insert(any->name);
  const double until = world_.now() + world_.chance.Uniform(5, 40);
  for (const std::string& name : names) {
    SimNode& node = world_.nodes[name];
    node.unheard_until = std::max(node.unheard_until, until);
  }
  world_.journal.Note(absl::StrCat("nothing is heard of ", absl::StrJoin(names, " and "), " until ", until));
  world_.journal.Count(Fault::kNodesUnheard);
}

void NodeFaults::Withdraw(const std::string& name) {
  SimNode& node = world_.nodes[name];
  if (!node.up || !node.agent || !node.draining) return;
  world_.journal.Note(absl::StrCat("the notice of ", name, " is withdrawn"));
  world_.journal.Count(Fault::kNoticeWithdrawn);
  node.draining = false;
}

void NodeFaults::Undrain(const std::string& name) {
  if (!coordinator_.is_up()) return;
  const std::optional<v1::Node> node = coordinator_.core().FindNode(coordinator_.clock().CoreNow(), name);
  if (node && node->state() == "draining" && !world_.nodes[name].draining) world_.journal.Count(Fault::kNodeUndrained);
  world_.journal.Note(absl::StrCat("the drain of ", name, " is taken back"));
  coordinator_.Feed(UndrainNode{name});
}

}  // namespace rekindle::core::simulation
