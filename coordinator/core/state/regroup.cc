#include "coordinator/core/state/regroup.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include "absl/strings/str_cat.h"

namespace rekindle::core {

void OpenForming(Turn& turn, Job& job, const std::string& reason, bool failure) {
  job.active = false;
  job.regroup.yielding = false;
  job.regroup.forming = Forming{};
  job.regroup.forming.since = turn.now;
  job.regroup.forming.reason = reason;
  job.regroup.forming.failure = failure;
  job.regroup.forming.completed_at = job.completed_at;
  job.regroup.ready_since = kNever;
  for (auto& [id, trainer] : job.trainers) trainer.left_out = trainer.waits = false;
  if (!failure) return;
  for (const v1::Member& member : job.record.membership().members()) {
    const auto found = turn.state.nodes.find(member.node());
    if (found == turn.state.nodes.end()) continue;
    NodeState& node = found->second;
    ++node.probe;
    if (node.asked_at <= node.heard) node.asked_at = turn.now;
    turn.state.watch_nodes_at = turn.now;
  }
}

}  // namespace rekindle::core
