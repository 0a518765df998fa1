#include "coordinator/core/charges/lost_charges.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/agreed/agreed_limits.h"
#include "coordinator/core/account/costs.h"
#include "coordinator/core/certainty/generation_lease.h"
#include "coordinator/market/prices.h"

namespace rekindle::core {
namespace {

// At most `kMostLost` lost nodes of a job are kept. When one more is lost, the job is at once charged all that the
// oldest one may still cost.
constexpr int kMostLost = 1000;

// Returns until when a lost node is charged. Trainers on a machine that nobody ordered stop after their lease.
double ChargedUntil(const Turn& turn, const Job& job, const Charged& held) {
  if (IsOrdered(turn.state.prices, held.pool())) return EndsBy(turn.state, held);
  const double silence = SilenceThatEnds(job.record.membership());
  if (!std::isinf(silence)) return UnixNow(turn) + silence;
  return held.until() > 0 ? held.until() + common::kMachineEndSeconds : UnixNow(turn);
}
}  // namespace

void HoldWhatRuns(const NodeState& node, double part, Job& job) {
  part = std::min(part, RunningPart(node, job.record.job().uid()));
  if (part <= kNothing) return;
  job.account.charged_for.clear();
  auto* held = job.record.mutable_held_nodes();
  const auto known = std::find_if(held->begin(), held->end(), [&](const Charged& one) {
    return one.node() == node.record.name() && IsSameNode(one, node);
  });
  if (known == held->end()) {
    *held->Add() = DescribeCharged(node.record.name(), node, part);
  } else {
    known->set_part(std::max(known->part(), part));
    known->clear_until();
  }
}

void NoteLost(Turn& turn, Job& job, const Charged& node, double part) {
  CountCosts(turn, job);
  const double until = ChargedUntil(turn, job, node);
  if (until <= UnixNow(turn)) return;
  // The watch of the machines begins at once, so that providers are soon asked whether the lost node's machine has
  // ended.
  turn.state.watch_nodes_at = turn.now;
  auto* lost = job.record.mutable_lost_nodes();
  const auto same = std::find_if(lost->begin(), lost->end(), [&](const Charged& known) {
    return known.node() == node.node() && known.incarnation() == node.incarnation();
  });
  Charged& noted = same == lost->end() ? *lost->Add() : *same;
  part += same == lost->end() ? 0 : noted.part();
  noted = node;
  noted.set_part(std::min(1.0, part));
  noted.set_until(std::isinf(until) ? 0 : until);
  if (lost->size() > kMostLost) {
    if (lost->Get(0).until() > 0) ChargeFor(turn.state, job, lost->Get(0), UnixNow(turn), lost->Get(0).until(), false);
    lost->erase(lost->begin());
  }
}
bool ForgetLostNode(Turn& turn, const std::string& name, bool before) {
  bool any = false;
  const auto node = turn.state.nodes.find(name);
  const bool is_heard = node != turn.state.nodes.end() && node->second.reported && !node->second.lost;
  const bool is_back = !before && node != turn.state.nodes.end() && !node->second.ended;
  for (auto& [uid, job] : turn.state.jobs) {
    auto* lost = job.record.mutable_lost_nodes();
    const auto is_it = [&](const Charged& known) {
      return known.node() == name && (node == turn.state.nodes.end() || node->second.ended ||
                                      IsSameNode(known, node->second) != (before && is_heard));
    };
    if (std::none_of(lost->begin(), lost->end(), is_it)) continue;
    CountCosts(turn, job);
    double part = 0;
    for (const Charged& known : *lost) part += is_it(known) ? known.part() : 0;
    if (is_back) HoldWhatRuns(node->second, part, job);
    lost->erase(std::remove_if(lost->begin(), lost->end(), is_it), lost->end());
    turn.Save(job);
    turn.Replan();
    any = true;
  }
  return any;
}
void ForgetEndedNodes(Turn& turn, Job& job) {
  const double now = UnixNow(turn);
  int ended = 0;
  for (const Charged& held : job.record.held_nodes()) ended += now >= EndsBy(turn.state, held);
  if (std::exchange(job.account.held_and_ended, ended) != ended) turn.Replan();
  auto* lost = job.record.mutable_lost_nodes();
  const auto has_ended = [&](const Charged& node) { return node.until() > 0 && node.until() <= now; };
  const auto rest = std::remove_if(lost->begin(), lost->end(), has_ended);
  if (rest != lost->end()) {
    lost->erase(rest, lost->end());
    turn.Save(job);
    turn.Replan();
  }
  WakeAtEnds(turn, job);
}
void ChargeTheRest(Turn& turn, Job& job) {
  if (!IsOver(job) || job.record.lost_nodes().empty()) return;
  CountCosts(turn, job);
  for (const Charged& lost : job.record.lost_nodes()) {
    if (lost.until() > 0) ChargeFor(turn.state, job, lost, UnixNow(turn), lost.until(), /*heard=*/false);
  }
  job.record.clear_lost_nodes();
  turn.Save(job);
  turn.Changed(job);
}
}  // namespace rekindle::core
