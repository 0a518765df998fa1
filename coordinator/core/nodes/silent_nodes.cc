#include "coordinator/core/nodes/silent_nodes.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "coordinator/core/machines/directives.h"
#include "coordinator/core/machines/draining.h"
#include "coordinator/core/machines/name_claims.h"

namespace rekindle::core {
namespace {

// Notes since when a node is silent. Where it was silent before this process began, its record says so.
void NoteSilence(Turn& turn, NodeState& node) {
  if (node.record.silent_since() == 0) {
    node.lost_since = turn.now;
    node.record.set_silent_since(UnixNow(turn));
    turn.Save(node);
  }
  turn.state.forget_at = std::min(turn.state.forget_at, node.lost_since + turn.state.tunables.keep_lost_seconds);
}

// ByNode maps a node's name to a time. It is hashed, not ordered, because it is looked up for every trainer.
using ByNode = std::unordered_map<std::string_view, double>;

// Returns by when a trainer of each node is expected to report next. A step that completes proves all of its members
// alive. The names of nodes in the map point into the state.
ByNode TrainersSpeakBy(const State& state) {
  // `asked` maps each node that does not answer a probe to the time at which it was asked.
  ByNode asked;
  for (const auto& [name, node] : state.nodes) {
    if (IsUnanswered(node)) asked[name] = node.asked_at;
  }
  ByNode by;
  by.reserve(state.nodes.size());
  for (const auto& [uid, job] : state.jobs) {
    if (IsOver(job)) continue;
    const auto speaks_at = [&](const std::string& node, double at) {
      double& latest = by.try_emplace(node, -kNever).first->second;
      latest = std::max(latest, at);
    };
    if (job.active) {
      for (const v1::Member& member : job.record.membership().members()) speaks_at(member.node(), job.completed_at);
    }
    for (const auto& [id, trainer] : job.trainers) {
      if (!trainer.reported) continue;
      const auto silent = asked.find(trainer.report.node());
      // After a failure the nodes are probed, and every trainer of the job reports at once. So a trainer that has not
      // reported since its node was probed gets no more time for its long poll. A dead trainer gets none either, but
      // its last report shows until when its node lived.
      const bool speaks = trainer.death.empty() && (silent == asked.end() || trainer.heard > silent->second);
      speaks_at(trainer.report.node(), trainer.heard + (speaks ? PollSeconds(trainer.report.wait_ms()) : 0));
    }
  }
  return by;
}

struct Deadline {
  double at = 0;
  // The node counts as lost at the time `at`. Its next report is due `patience` seconds before that time.
  double patience = 0;
};

// Returns by when the node's agent is expected to report again.
double ExpectedAt(const NodeState& node) {
  return std::max(node.known_since, node.heard + (node.reported ? PollSeconds(node.report.wait_ms()) : 0));
}

// Returns the time at which the node counts as lost if neither its agent nor a trainer reports before. `trainers_by` is
// computed only where the agent's reports do not decide, because there are many trainers.
Deadline LostAt(const Turn& turn, const std::string& name, const NodeState& node, std::optional<ByNode>& trainers_by) {
  const Tunables& tunables = turn.state.tunables;
  const double expected = ExpectedAt(node);
  Deadline lost{expected + tunables.node_lost_seconds, tunables.node_lost_seconds};
  if (turn.now < lost.at && !IsUnanswered(node)) return lost;
  if (!trainers_by) trainers_by = TrainersSpeakBy(turn.state);
  const auto trainers = trainers_by->find(name);
  const double by_trainer = trainers == trainers_by->end() ? -kNever : trainers->second;
  lost.at = std::max(expected, by_trainer) + tunables.node_lost_seconds;
  if (!IsUnanswered(node)) return lost;
  const double at = std::max(node.asked_at, by_trainer) + tunables.unanswered_seconds;
  if (at < lost.at) lost = {at, tunables.unanswered_seconds};
  return lost;
}

void SetLost(Turn& turn, NodeState& node, bool lost, double silent_seconds) {
  node.lost = lost;
  TellHeardOrLost(turn, node, silent_seconds);
  if (lost) {
    NoteSilence(turn, node);
  } else {
    NoteHeard(turn, node);
  }
  turn.Replan();
  for (const auto& [slot, uid] : node.slots) {
    // Jobs that wait for workers count the slots of nodes that are there. So the jobs with slots on the node are looked
    // at again, because the node is lost now or heard of again.
    const auto job = turn.state.jobs.find(uid);
    if (job != turn.state.jobs.end()) turn.Wake(job->second, turn.now);
  }
}

// Tells the agent of a draining node to leave when nothing of any job is left on the node.
void SendHome(Turn& turn, const std::string& name, NodeState& node) {
  const bool goes_home = node.record.drained_agent() != node.report.agent_incarnation();
  if (!node.record.draining() || !node.reported || (!goes_home && node.slots.empty())) return;
  // A silent agent may have started the trainers that it was told to run last, so it is not told to leave yet.
  if (!node.slots.empty() && turn.now > ExpectedAt(node)) return;
  if (!IsDrained(turn.state, name)) return;
  // Nothing of any job is left on the node, so jobs are not charged any longer for their slots on it.
  node.slots.clear();
  if (!goes_home) return;
  // The record keeps which agent was told to leave, so that the node takes work again when somebody starts a new one.
  node.record.set_drained_agent(node.report.agent_incarnation());
  turn.Save(node);
  turn.Replan();
  turn.Emit(nullptr, "node_drained", absl::StrCat("node ", name, " is drained: nothing of any job is left on it"),
            name);
}

}  // namespace

bool IsUnanswered(const NodeState& node) { return node.reported && node.asked_at > node.heard; }

void NoteHeard(const Turn& turn, NodeState& node) {
  node.lost_since = kNever;
  if (node.record.silent_since() == 0) return;
  node.record.clear_silent_since();
  turn.Save(node);
}

double WatchNodes(Turn& turn) {
  double wake_at = kNever;
  turn.state.any_lost = false;
  std::optional<ByNode> trainers_by;
  for (auto& [name, node] : turn.state.nodes) {
    if (!node.claims.empty()) wake_at = std::min(wake_at, ForgetClaims(node, turn.now));
    const bool overdue = node.record.draining() && turn.now >= node.drain_deadline;
    if (std::exchange(node.overdue, overdue) != overdue) turn.Replan();
    if (node.record.draining() && !node.overdue) wake_at = std::min(wake_at, node.drain_deadline);
    const Deadline deadline = LostAt(turn, name, node, trainers_by);
    const bool lost = turn.now >= deadline.at;
    if (!lost) wake_at = std::min(wake_at, deadline.at);
    turn.state.any_lost = turn.state.any_lost || lost;
    if (lost != node.lost) SetLost(turn, node, lost, deadline.patience);
    SendHome(turn, name, node);
  }
  return wake_at;
}

}  // namespace rekindle::core
