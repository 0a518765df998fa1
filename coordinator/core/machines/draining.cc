#include "coordinator/core/machines/draining.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/agreed/amounts.h"
#include "coordinator/core/state/text.h"

namespace rekindle::core {
namespace {

// Sets the limit of the node's drain where it is shorter than the one before. Agents repeat the limit with each report,
// so a small difference is not saved.
void SetLimit(Turn& turn, NodeState& node, double within_seconds) {
  constexpr double kNewsSeconds = 1;
  if (within_seconds <= 0) return;
  const double before = node.drain_deadline;
  node.drain_deadline = std::min(before, turn.now + within_seconds);
  if (node.drain_deadline > before - kNewsSeconds) return;
  node.record.set_drain_within_seconds(within_seconds);
  node.record.set_drain_until(UnixNow(turn) + within_seconds);
  turn.Save(node);
}

void StopDraining(Turn& turn, NodeState& node, const std::string& why) {
  node.record.clear_draining();
  node.record.clear_drain_reason();
  node.record.clear_drain_within_seconds();
  node.record.clear_drain_until();
  node.record.clear_drained_agent();
  node.record.clear_drain_reported();
  node.drain_deadline = kNever;
  turn.Save(node);
  const std::string& name = node.record.name();
  const std::string text = absl::StrCat("node ", name, " ", why);
  turn.Emit(nullptr, "node_ready", text, name);
  // Members that were told to stop at a step boundary because the node drained still stop there, but none of them has
  // to leave any more.
  for (auto& [uid, job] : turn.state.jobs) {
    const auto& members = job.record.membership().members();
    const bool any = std::any_of(members.begin(), members.end(), [&](const auto& m) { return m.node() == name; });
    if (any && job.regroup.yielding && job.regroup.yields_for_drain) job.regroup.SetYieldReason(text);
  }
}

}  // namespace

void StartDraining(Turn& turn, NodeState& node, double within_seconds, const std::string& reason) {
  SetLimit(turn, node, within_seconds);
  if (node.record.draining()) return;
  node.record.set_draining(true);
  node.record.set_drain_reason(Bounded(reason.empty() ? "asked to leave" : reason));
  turn.Save(node);
  turn.state.watch_nodes_at = turn.now;
  turn.Emit(nullptr, "draining", absl::StrCat("node ", node.record.name(), " drains: ", node.record.drain_reason()),
            node.record.name());
}

void TakeDraining(Turn& turn, NodeState& node, const v1::NodeReport& report) {
  if (report.draining()) {
    const bool news = !node.record.draining();
    // A later notice may leave the node less time than the first one.
    StartDraining(turn, node, report.drain_within_seconds(), report.drain_reason());
    if (news) node.record.set_drain_reported(true);
    return;
  }
  if (node.record.drained_agent().empty()) {
    if (node.record.drain_reported()) StopDraining(turn, node, "takes work again: the notice was withdrawn");
  } else if (node.record.drained_agent() != report.agent_incarnation()) {
    // The agent that was told to leave has gone. Whoever started the agent that reports now wants the node back.
    StopDraining(turn, node, "was started again");
  }
}

void TakeHint(Turn& turn, NodeState& node, const v1::NodeReport& report) {
  const std::string hint = Bounded(report.hint());
  if (hint == node.record.hint()) return;
  node.record.set_hint(hint);
  turn.Save(node);
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
  if (!common::IsAmount(within_seconds)) {
    turn.effects.status = absl::InvalidArgumentError("within_seconds must be 0 (no limit) or more");
    return;
  }
  StartDraining(turn, it->second, within_seconds, reason.empty() ? "asked by the user" : reason);
  NodeState& node = it->second;
  if (!node.record.drain_reported()) return;
  // A drain that the user asked for does not end when the node withdraws its own notice.
  node.record.set_drain_reported(false);
  turn.Save(node);
}

void Undrain(Turn& turn, const std::string& name) {
  const auto it = turn.state.nodes.find(name);
  if (it == turn.state.nodes.end()) {
    turn.effects.status = absl::NotFoundError(absl::StrCat("no node is named ", name, "; `rekindle nodes` lists all"));
    return;
  }
  NodeState& node = it->second;
  const std::string reason = node.record.drain_reason();
  if (!node.record.draining()) {
    turn.effects.status = absl::FailedPreconditionError(absl::StrCat("node ", name, " does not drain"));
  } else if (!node.record.drained_agent().empty()) {
    turn.effects.status = absl::FailedPreconditionError(absl::StrCat(
        "node ", name, " has drained (", reason,
        "), and its worker was told to leave: ", "it takes work again once rekindle-worker is started there"));
  } else if (node.record.drain_reported() || node.report.draining()) {
    turn.effects.status = absl::FailedPreconditionError(
        absl::StrCat("node ", name, " leaves by itself (", reason,
                     "): it takes work again where that is withdrawn, or once its worker is started again"));
  } else {
    StopDraining(turn, node, "takes work again, as the user asked");
    // The node's idle time begins anew, so that it is not told to leave because it served no job while it drained.
    node.idle_since = kNever;
  }
}

void TellHeardOrLost(Turn& turn, const NodeState& node, double silent_seconds) {
  const std::string& name = node.record.name();
  const bool has_drained = node.record.draining() && !node.record.drained_agent().empty();
  if (!node.lost) {
    turn.Emit(nullptr, "node_ready", absl::StrCat("node ", name, " is heard of again"), name);
  } else if (!has_drained) {
    turn.Emit(nullptr, "node_lost",
              absl::StrCat("node ", name, " is lost: nothing was heard of it for ", Seconds(silent_seconds)), name);
  } else if (node.record.silent_since() == 0) {
    turn.Emit(nullptr, "node_ended",
              absl::StrCat("node ", name, " has ended: it was drained (", node.record.drain_reason(),
                           "), and is not heard of any more"),
              name);
  }
}

}  // namespace rekindle::core
