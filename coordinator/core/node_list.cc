// Nodes as users see them.
#include <algorithm>

#include "coordinator/core/name_claims.h"
#include "coordinator/core/nodes.h"

namespace rekindle::core {

std::vector<v1::Node> ListNodes(const State& state, double now) {
  std::vector<v1::Node> nodes;
  for (const auto& [name, node] : state.nodes) {
    v1::Node& shown = nodes.emplace_back();
    shown.set_name(name);
    shown.set_incarnation(node.record.incarnation());
    const bool drained = node.record.draining() && !node.record.drained_agent().empty();
    shown.set_state(drained ? "drained" : node.lost ? "lost" : node.record.draining() ? "draining" : "ready");
    shown.set_reason(!node.error.empty()      ? node.error
                     : node.record.draining() ? node.record.drain_reason()
                     : node.lost              ? "nothing was heard of it"
                     : node.claims.empty()    ? node.record.hint()
                                              : DescribeClaims(node));
    shown.set_slots(node.report.slots());
    for (const v1::TrainerProcess& process : node.report.trainers()) {
      if (process.running()) shown.add_trainers(process.trainer());
    }
    shown.set_last_seen_seconds(node.reported ? std::max(0.0, now - node.heard) : -1);
    shown.set_version(node.report.version());
    shown.set_zone(node.report.zone());
    shown.set_pool(node.record.pool());
    shown.set_capacity(CapacityOf(FindPool(state.prices, node.record.pool())));
  }
  return nodes;
}

}  // namespace rekindle::core
