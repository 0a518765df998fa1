#include "coordinator/core/charges/given_up.h"

#include <algorithm>
#include <set>

#include "coordinator/core/account/costs.h"
#include "coordinator/core/charges/lost_charges.h"

namespace rekindle::core {
namespace {

// Returns which part of the node no job has slots of. Whoever has the other slots pays for them.
double FreePart(const State& state, const std::string& name) {
  const auto node = state.nodes.find(name);
  if (node == state.nodes.end()) return 1;
  return 1 - static_cast<double>(node->second.slots.size()) / std::max(1, node->second.record.slots());
}

// Charges the job for `part` of a node from the moment that it was given up.
void ChargeSince(Turn& turn, Job& job, const Charged& given_up, double part) {
  CountCosts(turn, job);
  ChargeFor(turn.state, job, DescribePart(given_up, part), given_up.since(),
            std::min(UnixNow(turn), EndsBy(turn.state, given_up)), /*heard=*/false);
  turn.Changed(job);
}

void Unindex(State& state, const std::string& node, const std::string& uid) {
  const auto at = state.gave_up.find(node);
  if (at == state.gave_up.end()) return;
  at->second.erase(uid);
  if (at->second.empty()) state.gave_up.erase(at);
}

// Removes the entries of a job's given up slots for which `is_settled` returns true.
template <typename IsSettled>
void Remove(State& state, Job& job, const IsSettled& is_settled) {
  auto* given_up = job.record.mutable_given_up_nodes();
  const auto rest = std::remove_if(given_up->begin(), given_up->end(), [&](Charged& one) {
    if (!is_settled(one)) return false;
    Unindex(state, one.node(), job.record.job().uid());
    return true;
  });
  given_up->erase(rest, given_up->end());
}

}  // namespace

void NoteGivenUp(Turn& turn, Job& job, const Charged& node, double part) {
  if (part <= kNothing) return;
  auto* given_up = job.record.mutable_given_up_nodes();
  const auto same = std::find_if(given_up->begin(), given_up->end(), [&](const Charged& one) {
    return one.node() == node.node() && one.incarnation() == node.incarnation();
  });
  if (same != given_up->end()) {
    same->set_part(std::min(1.0, same->part() + part));
  } else {
    Charged& noted = *given_up->Add();
    noted = node;
    noted.set_part(part);
    noted.set_since(UnixNow(turn));
    if (noted.until() == 0) noted.set_until(job.record.granted_until());
  }
  turn.state.gave_up[node.node()].insert(job.record.job().uid());
  turn.Save(job);
}

bool AwaitsConfirmation(const State& state, const std::string& node) { return state.gave_up.contains(node); }

void IndexGivenUp(State& state, const v1::JobRecord& record) {
  for (const Charged& one : record.given_up_nodes()) state.gave_up[one.node()].insert(record.job().uid());
}

void UnindexGivenUp(State& state, const v1::JobRecord& record) {
  for (const Charged& one : record.given_up_nodes()) Unindex(state, one.node(), record.job().uid());
}

bool SettleGivenUp(Turn& turn, const NodeState& node, bool told) {
  const std::string& name = node.record.name();
  const auto of_node = turn.state.gave_up.find(name);
  if (of_node == turn.state.gave_up.end()) return false;
  bool charged = false;
  for (const std::string& uid : std::set<std::string>(of_node->second)) {
    const auto at = turn.state.jobs.find(uid);
    if (at == turn.state.jobs.end()) continue;
    Job& job = at->second;
    // A record that still has an entry for which nothing is owed does no harm, so it need not be saved.
    Remove(turn.state, job, [&](const Charged& one) {
      if (one.node() != name || !IsSameNode(one, node)) return false;
      const double held = HeldPart(job, name);
      const double runs = std::min(one.part(), RunningPart(node, uid) - held);
      if (runs <= kNothing) return told;
      ChargeSince(turn, job, one, std::min(runs, FreePart(turn.state, name)));
      HoldWhatRuns(node, held + runs, job);
      turn.Save(job);
      charged = true;
      return true;
    });
  }
  return charged;
}

void RegainGivenUp(Turn& turn, Job& job, const std::string& node, double part) {
  Remove(turn.state, job, [&](Charged& one) {
    if (one.node() != node || part <= kNothing) return false;
    const double back = std::min(part, one.part());
    ChargeSince(turn, job, one, back);
    part -= back;
    one.set_part(one.part() - back);
    turn.Save(job);
    return one.part() <= kNothing;
  });
}

void LoseGivenUp(Turn& turn, Job& job) {
  Remove(turn.state, job, [&](const Charged& one) {
    const auto at = turn.state.nodes.find(one.node());
    const NodeState* node = at == turn.state.nodes.end() ? nullptr : &at->second;
    const bool is_same = node != nullptr && IsSameNode(one, *node);
    if (is_same && !node->lost && !node->ended) return false;
    turn.Save(job);
    // The agent of a drained node had reported that none of its trainers runs before it was told to leave.
    if (is_same && !node->record.drained_agent().empty()) return true;
    ChargeSince(turn, job, one, std::min(one.part(), FreePart(turn.state, one.node())));
    if (!is_same || !node->ended) NoteLost(turn, job, one, one.part());
    return true;
  });
}

}  // namespace rekindle::core
