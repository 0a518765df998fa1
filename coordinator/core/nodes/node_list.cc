#include "coordinator/core/nodes/node_list.h"

#include <algorithm>

#include "coordinator/core/machines/name_claims.h"

namespace rekindle::core {

v1::Node ShowNode(const State& state, const NodeState& node, double now) {
  v1::Node shown;
  shown.set_name(node.record.name());
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
  if (node.report.has_device()) *shown.mutable_device() = node.report.device();
  if (node.report.has_interpreter()) *shown.mutable_interpreter() = node.report.interpreter();
  shown.set_allow_code(node.report.allow_code());
  shown.set_isolation(node.report.isolation());
  *shown.mutable_slot_faults() = node.report.slot_faults();
  shown.set_pool(node.record.pool());
  shown.set_capacity(CapacityOf(FindPool(state.prices, node.record.pool())));
  return shown;
}

std::vector<v1::Node> ListNodes(const State& state, double now, const std::string& after, size_t at_most) {
  std::vector<v1::Node> nodes;
  for (auto at = state.nodes.upper_bound(after); at != state.nodes.end() && nodes.size() < at_most; ++at) {
    nodes.push_back(ShowNode(state, at->second, now));
  }
  return nodes;
}

}  // namespace rekindle::core
