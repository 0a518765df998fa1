#include "coordinator/core/draining.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "coordinator/core/amounts.h"
#include "coordinator/core/costs.h"
#include "coordinator/core/text.h"

namespace rekindle::core {
namespace {

// Only a shorter limit than before counts. Agents repeat theirs with each report: that is no news.
void SetLimit(Turn& turn, NodeState& node, double within_seconds) {
  constexpr double kNewsSeconds = 1;
  if (within_seconds <= 0) return;
  const double before = node.drain_deadline;
  node.drain_deadline = std::min(before, turn.now + within_seconds);
  if (node.drain_deadline > before - kNewsSeconds) return;
  node.record.set_drain_within_seconds(within_seconds);
  node.record.set_drain_until(UnixNow(turn) + within_seconds);
  node.must_save = true;
}

void StopDraining(Turn& turn, NodeState& node, const std::string& why) {
  node.record.clear_draining();
  node.record.clear_drain_reason();
  node.record.clear_drain_within_seconds();
  node.record.clear_drain_until();
  node.record.clear_drained_agent();
  node.record.clear_drain_reported();
  node.drain_deadline = kNever;
  node.must_save = true;
  turn.Emit(nullptr, "node_ready", absl::StrCat("node ", node.record.name(), " ", why), node.record.name());
}

}  // namespace

void StartDraining(Turn& turn, NodeState& node, double within_seconds, const std::string& reason) {
  SetLimit(turn, node, within_seconds);
  if (node.record.draining()) return;
  node.record.set_draining(true);
  node.record.set_drain_reason(Bounded(reason.empty() ? "asked to leave" : reason));
  node.must_save = true;
  turn.Emit(nullptr, "draining", absl::StrCat("node ", node.record.name(), " drains: ", node.record.drain_reason()),
            node.record.name());
}

void TakeDraining(Turn& turn, NodeState& node, const v1::NodeReport& report) {
  if (report.draining()) {
    const bool news = !node.record.draining();
    StartDraining(turn, node, report.drain_within_seconds(), report.drain_reason());  // A later notice may be shorter.
    if (news) node.record.set_drain_reported(true);
    return;
  }
  if (node.record.drained_agent().empty()) {
    if (node.record.drain_reported()) StopDraining(turn, node, "takes work again: the notice was withdrawn");
  } else if (node.record.drained_agent() != report.agent_incarnation()) {
    // The agent that was sent home has gone; whoever starts another wants the node back.
    StopDraining(turn, node, "was started again");
  }
}

void TakeHint(Turn& turn, NodeState& node, const v1::NodeReport& report) {
  const std::string hint = Bounded(report.hint());
  if (hint == node.record.hint()) return;
  node.record.set_hint(hint);
  node.must_save = true;
  turn.Emit(nullptr, "node_hint",
            hint.empty() ? absl::StrCat("node ", report.node(), " is no longer expected to be taken")
                         : absl::StrCat("node ", report.node(), " may be taken: ", hint),
            report.node());
}

void Drain(Turn& turn, const std::string& name, double within_seconds, const std::string& reason) {
  const auto it = turn.state.nodes.find(name);
  if (it == turn.state.nodes.end()) {
    turn.effects.status = absl::NotFoundError(absl::StrCat("no node is named ", name, "; `rekindle nodes` lists all"));
    return;
  }
  if (!IsAmount(within_seconds)) {
    turn.effects.status = absl::InvalidArgumentError("within_seconds must be 0 (no limit) or more");
    return;
  }
  StartDraining(turn, it->second, within_seconds, reason.empty() ? "asked by the user" : reason);
  NodeState& node = it->second;
  if (!node.record.drain_reported()) return;
  node.record.set_drain_reported(false);  // Whatever the node takes back, the user does not.
  node.must_save = true;
}

}  // namespace rekindle::core
