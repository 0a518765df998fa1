#include "coordinator/core/charges/charged_nodes.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "coordinator/core/account/costs.h"
#include "coordinator/core/account/spending.h"
#include "coordinator/core/charges/charges.h"
#include "coordinator/core/charges/given_up.h"
#include "coordinator/core/charges/lost_charges.h"

namespace rekindle::core {
namespace {

struct Held {
  std::string_view name;
  const NodeState* node = nullptr;
  double part = 0;
};

// Returns which part of a node the job is still charged for, beyond the slots that it has there now: the part with
// trainers that may return after a restart of the coordinator, or that do not know yet that they have to stop. It is at
// most `part`. If the node is lost, StillHeld notes `part` of it as lost and returns 0.
double StillHeld(Turn& turn, Job& job, const Charged& before, double has, double part) {
  const auto known = turn.state.nodes.find(before.node());
  const NodeState* node = known == turn.state.nodes.end() ? nullptr : &known->second;
  const bool is_same = node != nullptr && IsSameNode(before, *node);
  if (is_same && node->reported && !node->lost) {
    const double kept = std::clamp(RunningPart(*node, job.record.job().uid()) - has, 0.0, part);
    NoteGivenUp(turn, job, before, part - kept);
    return kept;
  }
  if (is_same && !node->reported && !node->lost && !node->ended) {
    // A node that had drained before the restart of the coordinator runs no trainers of any job.
    return node->record.drained_agent().empty() ? part : 0;
  }
  if (!is_same || !node->ended) NoteLost(turn, job, before, part);
  return 0;
}

bool IsAs(const Charged& before, const Held& now) {
  return before.node() == now.name && before.part() == now.part && before.pool() == now.node->record.pool() &&
         before.incarnation() == now.node->record.incarnation();
}

bool IsEqual(const Charged& a, const Charged& b) {
  return a.node() == b.node() && a.incarnation() == b.incarnation() && a.pool() == b.pool() && a.part() == b.part();
}

// Removes from `now`, the nodes of which the job has slots, those for which the job is already charged as lost nodes.
// After a restart of the coordinator the members have their slots again, also on nodes that were lost before the
// restart. Until such a node is lost once more, the job is charged for it as a lost node only.
std::vector<Held> WithoutLost(const Job& job, std::vector<Held> now) {
  if (job.record.lost_nodes().empty()) return now;
  const auto part_in = [](const auto& nodes, const Held& one) {
    const auto at = std::find_if(nodes.begin(), nodes.end(), [&](const Charged& charged) {
      return charged.node() == one.name && IsSameNode(charged, *one.node);
    });
    return at == nodes.end() ? 0 : at->part();
  };
  for (Held& one : now) {
    const double had = std::min(one.part, part_in(job.record.held_nodes(), one));
    one.part = std::max(had, one.part - part_in(job.record.lost_nodes(), one));
  }
  std::erase_if(now, [](const Held& one) { return one.part <= kNothing; });
  return now;
}

void TakeHeldNodes(Turn& turn, Job& job, std::vector<Held> slots) {
  const std::vector<Held> now = WithoutLost(job, std::move(slots));
  const auto& before = job.record.held_nodes();
  if (std::equal(before.begin(), before.end(), now.begin(), now.end(), IsAs)) return;
  std::map<std::string, Charged> held;
  for (const Held& one : now) held[std::string(one.name)] = DescribeCharged(one.name, *one.node, one.part);
  if (!job.record.given_up_nodes().empty()) {
    for (const auto& [name, node] : held) RegainGivenUp(turn, job, name, node.part() - HeldPart(job, name));
  }
  for (const Charged& one : std::vector<Charged>(before.begin(), before.end())) {
    const auto at = held.find(one.node());
    const bool is_there = at != held.end() && IsSameNode(one, turn.state.nodes.at(one.node()));
    const double has = is_there ? at->second.part() : 0;
    if (is_there) at->second.set_until(one.until());
    if (one.part() - has <= kNothing) continue;
    const double rest = StillHeld(turn, job, one, has, one.part() - has);
    if (rest <= kNothing) continue;
    if (!is_there) held[one.node()] = one;
    held[one.node()].set_part(has + rest);
  }
  std::vector<Charged> all;
  for (auto& [name, node] : held) all.push_back(std::move(node));
  if (std::equal(before.begin(), before.end(), all.begin(), all.end(), IsEqual)) return;
  job.record.mutable_held_nodes()->Assign(all.begin(), all.end());
  turn.Save(job);
}

// A node that is not heard of learns of no later spending grant, so its present grant is the last one that counts.
void NoteSilence(const Turn& turn, Job& job) {
  for (Charged& held : *job.record.mutable_held_nodes()) {
    const auto node = turn.state.nodes.find(held.node());
    const bool is_heard =
        node != turn.state.nodes.end() && node->second.reported && !node->second.lost && IsSameNode(held, node->second);
    const double until = is_heard ? 0 : held.until() > 0 ? held.until() : job.record.granted_until();
    if (held.until() == until) continue;
    held.set_until(until);
    turn.Save(job);
  }
}

// Returns whether the job holds the same nodes as when its charges were last updated, and all of them are heard of.
// That is true for nearly every job in nearly every turn. The nodes in the record are not read, as the records for
// 10,000 nodes are more than the caches hold.
bool IsSettled(const Job& job, const std::vector<Held>& now) {
  const auto is_same = [](const ChargedAs& before, const Held& one) {
    return before.as == one.node->charged_as && before.part == one.part && one.node->reported && !one.node->lost;
  };
  return !job.account.charged_for.empty() &&
         job.record.held_nodes_size() == static_cast<int>(job.account.charged_for.size()) &&
         job.record.lost_nodes().empty() && job.account.lost_shares.empty() && !job.account.rate_is_old &&
         std::equal(job.account.charged_for.begin(), job.account.charged_for.end(), now.begin(), now.end(), is_same);
}

bool HoldsTheSame(const Job& job, const std::vector<Held>& now) {
  const auto is_same = [](const Charged& before, const Held& one) {
    return before.until() == 0 && one.node->reported && !one.node->lost && IsAs(before, one);
  };
  const auto& before = job.record.held_nodes();
  return job.record.lost_nodes().empty() && std::equal(before.begin(), before.end(), now.begin(), now.end(), is_same);
}

bool IsChargedForHeld(const Job& job) {
  const auto& held = job.record.held_nodes();
  int found = 0;
  for (const auto& [pool, part] : job.account.shares) {
    double sum = 0;
    for (const Charged& node : held) {
      if (node.pool() != pool) continue;
      sum += node.part();
      ++found;
    }
    if (sum != part) return false;
  }
  return found == held.size() && job.account.lost_shares.empty() && !job.account.rate_is_old;
}

// Returns what the job is charged for by its record, and the part of that on lost nodes.
std::pair<Shares, Shares> RecordedShares(const Turn& turn, const Job& job) {
  Shares shares, lost;
  for (const Charged& node : job.record.held_nodes()) {
    if (UnixNow(turn) < EndsBy(turn.state, node)) shares[node.pool()] += node.part();
  }
  for (const Charged& node : job.record.lost_nodes()) lost[node.pool()] += node.part();
  for (const auto& [pool, part] : lost) shares[pool] += part;
  return {shares, lost};
}

}  // namespace

void ChangeCharged(State& state, NodeState& node) {
  node.charged_as = ++state.last_charged_as;
  node.pool = std::hash<std::string>()(node.record.pool());
}

void ShareNodes(Turn& turn) {
  // The keys of `now` are uids of jobs, and the nodes of each job are in the order of their names.
  absl::flat_hash_map<std::string_view, std::vector<Held>> now;
  for (const auto& [name, node] : turn.state.nodes) {
    const double part = 1.0 / std::max(1, node.record.slots());
    for (const auto& [slot, uid] : node.slots) {
      std::vector<Held>& held = now[uid];
      if (held.empty() || held.back().node != &node) held.push_back({name, &node, 0});
      held.back().part += part;
    }
  }
  for (auto& [uid, job] : turn.state.jobs) {
    std::vector<Held>& held = now[uid];
    if (!job.record.given_up_nodes().empty()) LoseGivenUp(turn, job);
    if (IsSettled(job, held)) continue;
    job.account.charged_for.clear();
    if (HoldsTheSame(job, held) && IsChargedForHeld(job)) {
      for (const Held& one : held) job.account.charged_for.push_back({one.node->charged_as, one.part});
      continue;
    }
    NoteSilence(turn, job);
    TakeHeldNodes(turn, job, std::move(held));
    ChargeTheRest(turn, job);
    WakeAtEnds(turn, job);
    const auto [shares, lost] = RecordedShares(turn, job);
    const bool is_old = std::exchange(job.account.rate_is_old, false);
    if (!is_old && job.account.shares == shares && job.account.lost_shares == lost) continue;
    CountCosts(turn, job);
    // If the job held no node before, `CountCosts` has not set the time up to which the job's costs are counted.
    CostOf(job)->set_until(UnixNow(turn));
    job.account.shares = shares;
    job.account.lost_shares = lost;
    ShowCosts(turn, job);
    turn.Changed(job);
    if (IsOver(job)) continue;
    // The job's spending grant is renewed now, because new nodes learn of the grant with their first order. The job is
    // woken, because its budget may have no room for the nodes that are still to come.
    GrantSpending(turn, job);
    if (CostOf(job)->budget() > 0) turn.Wake(job, turn.now);
  }
}

void TakeRecordedShares(const Turn& turn, Job& job) {
  std::tie(job.account.shares, job.account.lost_shares) = RecordedShares(turn, job);
  job.account.rate_is_old = true;
}

bool MayBeCharged(const Job& job) {
  return !IsOver(job) || !job.account.shares.empty() || !job.record.given_up_nodes().empty();
}

void HoldMembers(const State& state, Job& job) {
  std::map<std::string, Charged> held;
  for (const v1::Member& member : job.record.membership().members()) {
    const auto node = state.nodes.find(member.node());
    if (node == state.nodes.end()) continue;
    const double part = 1.0 / std::max(1, node->second.record.slots());
    const auto [at, is_new] = held.try_emplace(member.node());
    const double sum = part + (is_new ? 0 : at->second.part());
    at->second = DescribeCharged(node->first, node->second, sum);
  }
  job.account.charged_for.clear();
  job.record.clear_held_nodes();
  for (auto& [name, node] : held) *job.record.add_held_nodes() = std::move(node);
}

}  // namespace rekindle::core
