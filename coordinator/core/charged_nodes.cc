#include "coordinator/core/charged_nodes.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "common/alone.h"
#include "coordinator/core/costs.h"
#include "coordinator/core/emissions.h"
#include "coordinator/core/fence.h"
#include "coordinator/core/prices.h"
#include "coordinator/core/spending.h"

namespace rekindle::core {
namespace {

using Charged = v1::JobRecord::ChargedNode;

constexpr int kMostLost = 1000;    // A job that loses more is charged for the oldest at once.
constexpr double kNothing = 1e-9;  // Parts are rounded.

struct Held {
  std::string_view name;
  const NodeState* node = nullptr;
  double part = 0;
};

// When a machine of which nothing is heard has ended itself at the latest. Infinite: it does not.
double EndsBy(const State& state, const Charged& held) {
  return held.until() > 0 && IsOrdered(state.prices, held.pool()) ? held.until() + common::kMachineEndSeconds : kNever;
}

// Until when a lost node is charged. One that nobody ordered does not end; but its trainers stand still after their
// lease.
double ChargedUntil(const Turn& turn, const Job& job, const Charged& held) {
  if (IsOrdered(turn.state.prices, held.pool())) return EndsBy(turn.state, held);
  const double silence = SilenceThatEnds(job.record.membership());
  if (!std::isinf(silence)) return UnixNow(turn) + silence;
  return held.until() > 0 ? held.until() + common::kMachineEndSeconds : UnixNow(turn);
}

void Charge(const State& state, Job& job, const Charged& node, double from, double until, bool heard) {
  v1::Cost* cost = CostOf(job);
  const double before = cost->spent();
  AddCost(state, {{node.pool(), node.part()}}, NodeWatts(job), from, until, cost);
  if (!heard) cost->set_unheard(cost->unheard() + cost->spent() - before);
}

void NoteLost(Turn& turn, Job& job, const Charged& node, double part) {
  CountCosts(turn, job);
  const double until = ChargedUntil(turn, job, node);
  if (until <= UnixNow(turn)) return;
  turn.state.watch_nodes_at = turn.now;  // Providers are asked whether its machine has ended.
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
    if (lost->Get(0).until() > 0) Charge(turn.state, job, lost->Get(0), UnixNow(turn), lost->Get(0).until(), false);
    lost->erase(lost->begin());
  }
}

// A folder that was wiped is on the same machine.
bool IsSame(const Charged& charged, const NodeState& node) {
  return charged.incarnation() == node.record.incarnation() ||
         (!charged.hardware().empty() && charged.hardware() == node.report.machine().hardware());
}

// How much of the node runs trainers of the job, as its agent said last.
double RunningPart(const NodeState& node, const std::string& uid) {
  const auto& trainers = node.report.trainers();
  const auto runs = std::count_if(trainers.begin(), trainers.end(), [&](const v1::TrainerProcess& process) {
    return process.running() && process.job_uid() == uid;
  });
  return static_cast<double>(runs) / std::max(1, node.record.slots());
}

// The job had `part` of the node that it has no slots of now. What of that it is charged for still: what may return
// after a restart, and what has not heard yet that it is to stop. What is lost is noted.
double StillHeld(Turn& turn, Job& job, const Charged& before, double has, double part) {
  const auto known = turn.state.nodes.find(before.node());
  const NodeState* node = known == turn.state.nodes.end() ? nullptr : &known->second;
  const bool is_same = node != nullptr && IsSame(before, *node);
  if (is_same && node->reported && !node->lost) {
    return std::clamp(RunningPart(*node, job.record.job().uid()) - has, 0.0, part);
  }
  if (is_same && !node->reported && !node->lost && !node->ended) {
    return node->record.drained_agent().empty() ? part : 0;  // Nothing of any job was left on one that had drained.
  }
  if (!is_same || !node->ended) NoteLost(turn, job, before, part);
  return 0;
}

Charged Describe(const Held& held) {
  Charged node;
  node.set_node(std::string(held.name));
  node.set_incarnation(held.node->record.incarnation());
  node.set_hardware(held.node->report.machine().hardware());
  node.set_pool(held.node->record.pool());
  node.set_part(held.part);
  return node;
}

bool IsAs(const Charged& before, const Held& now) {
  return before.node() == now.name && before.part() == now.part && before.pool() == now.node->record.pool() &&
         before.incarnation() == now.node->record.incarnation();
}

bool IsSame(const Charged& a, const Charged& b) {
  return a.node() == b.node() && a.incarnation() == b.incarnation() && a.pool() == b.pool() && a.part() == b.part();
}

// After a restart the slots of all members are theirs again, also on nodes that were lost before. Until those are lost
// once more they are charged as lost alone.
std::vector<Held> WithoutLost(const Job& job, std::vector<Held> now) {
  if (job.record.lost_nodes().empty()) return now;
  const auto part_in = [](const auto& nodes, const Held& one) {
    const auto at = std::find_if(nodes.begin(), nodes.end(), [&](const Charged& charged) {
      return charged.node() == one.name && IsSame(charged, *one.node);
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

void TakeHeld(Turn& turn, Job& job, std::vector<Held> slots) {
  const std::vector<Held> now = WithoutLost(job, std::move(slots));
  const auto& before = job.record.held_nodes();
  if (std::equal(before.begin(), before.end(), now.begin(), now.end(), IsAs)) return;
  std::map<std::string, Charged> held;
  for (const Held& one : now) held[std::string(one.name)] = Describe(one);
  for (const Charged& one : std::vector<Charged>(before.begin(), before.end())) {
    const auto at = held.find(one.node());
    const bool is_there = at != held.end() && IsSame(one, turn.state.nodes.at(one.node()));
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
  const auto same = [](const Charged& a, const Charged& b) { return IsSame(a, b); };
  if (std::equal(before.begin(), before.end(), all.begin(), all.end(), same)) return;
  job.record.mutable_held_nodes()->Assign(all.begin(), all.end());
  job.must_save = true;
}

// One that is not heard of is told of no grant that is made from now on.
void NoteSilence(const State& state, Job& job) {
  for (Charged& held : *job.record.mutable_held_nodes()) {
    const auto node = state.nodes.find(held.node());
    const bool is_heard =
        node != state.nodes.end() && node->second.reported && !node->second.lost && IsSame(held, node->second);
    const double until = is_heard ? 0 : held.until() > 0 ? held.until() : job.record.granted_until();
    if (held.until() == until) continue;
    held.set_until(until);
    job.must_save = true;
  }
}

// Nearly every job in nearly every turn holds what it held, and all of that is heard of. Its record is not read for
// that: of 10,000 nodes it is more than the caches hold.
bool IsSettled(const Job& job, const std::vector<Held>& now) {
  const auto is_same = [](const ChargedAs& before, const Held& one) {
    return before.as == one.node->charged_as && before.part == one.part && one.node->reported && !one.node->lost;
  };
  return !job.charged_for.empty() && job.record.held_nodes_size() == static_cast<int>(job.charged_for.size()) &&
         job.record.lost_nodes().empty() && job.lost_shares.empty() && !job.rate_is_old &&
         std::equal(job.charged_for.begin(), job.charged_for.end(), now.begin(), now.end(), is_same);
}

// Does the record of the job say that it holds just these, all of which are heard of?
bool HoldsTheSame(const Job& job, const std::vector<Held>& now) {
  const auto is_same = [](const Charged& before, const Held& one) {
    return before.until() == 0 && one.node->reported && !one.node->lost && IsAs(before, one);
  };
  const auto& before = job.record.held_nodes();
  return job.record.lost_nodes().empty() && std::equal(before.begin(), before.end(), now.begin(), now.end(), is_same);
}

// Whether the job was charged last for the nodes that it holds, at their present rate.
bool IsChargedForHeld(const Job& job) {
  const auto& held = job.record.held_nodes();
  int found = 0;
  for (const auto& [pool, part] : job.shares) {
    double sum = 0;
    for (const Charged& node : held) {
      if (node.pool() != pool) continue;
      sum += node.part();
      ++found;
    }
    if (sum != part) return false;
  }
  return found == held.size() && job.lost_shares.empty() && !job.rate_is_old;
}

void ChargeTheRest(Turn& turn, Job& job) {
  if (!IsOver(job) || job.record.lost_nodes().empty()) return;
  CountCosts(turn, job);
  for (const Charged& lost : job.record.lost_nodes()) {
    if (lost.until() > 0) Charge(turn.state, job, lost, UnixNow(turn), lost.until(), /*heard=*/false);
  }
  job.record.clear_lost_nodes();
  job.must_save = true;
  Touch(job);
}

// The job is looked at again when the time of one of its silent nodes is over. Nothing else would wake one that holds
// no other nodes, and it would be charged until then.
void WakeAtEnds(Turn& turn, Job& job) {
  const double now = UnixNow(turn), offset = turn.state.wall_offset;
  const auto wake = [&](double end) {
    if (end > now && end != kNever) turn.Wake(job, end - offset);
  };
  for (const Charged& held : job.record.held_nodes()) wake(EndsBy(turn.state, held));
  for (const Charged& lost : job.record.lost_nodes()) wake(lost.until());
}

void MoveGrants(double step, Job& job) {
  job.charged_for.clear();
  v1::JobRecord& record = job.record;
  if (record.granted_until() > 0) record.set_granted_until(std::max(1.0, record.granted_until() + step));
  for (auto* nodes : {record.mutable_held_nodes(), record.mutable_lost_nodes()}) {
    for (Charged& node : *nodes) {
      if (node.until() > 0) node.set_until(std::max(1.0, node.until() + step));
    }
  }
  job.must_save = true;
}

// The job was charged for `part` of the node as a lost one. It may have no slot there any more: of that it is charged
// for what still runs.
void HoldWhatRuns(const NodeState& node, double part, Job& job) {
  part = std::min(part, RunningPart(node, job.record.job().uid()));
  if (part <= kNothing) return;
  job.charged_for.clear();
  auto* held = job.record.mutable_held_nodes();
  const auto known = std::find_if(held->begin(), held->end(), [&](const Charged& one) {
    return one.node() == node.record.name() && IsSame(one, node);
  });
  if (known == held->end()) {
    *held->Add() = Describe({node.record.name(), &node, part});
  } else {
    known->set_part(std::max(known->part(), part));
    known->clear_until();
  }
}

}  // namespace

void ChangeCharged(State& state, NodeState& node) {
  node.charged_as = ++state.last_charged_as;
  node.pool = std::hash<std::string>()(node.record.pool());
}

void ShareNodes(Turn& turn) {
  // The key is the uid, and the nodes are in order of their names.
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
    if (IsSettled(job, held)) continue;
    job.charged_for.clear();
    if (HoldsTheSame(job, held) && IsChargedForHeld(job)) {
      for (const Held& one : held) job.charged_for.push_back({one.node->charged_as, one.part});
      continue;
    }
    NoteSilence(turn.state, job);
    TakeHeld(turn, job, std::move(held));
    ChargeTheRest(turn, job);
    WakeAtEnds(turn, job);
    Shares shares, lost;
    for (const Charged& node : job.record.held_nodes()) {
      if (UnixNow(turn) < EndsBy(turn.state, node)) shares[node.pool()] += node.part();
    }
    for (const Charged& node : job.record.lost_nodes()) lost[node.pool()] += node.part();
    for (const auto& [pool, part] : lost) shares[pool] += part;
    const bool is_old = std::exchange(job.rate_is_old, false);
    if (!is_old && job.shares == shares && job.lost_shares == lost) continue;
    CountCosts(turn, job);
    CostOf(job)->set_until(UnixNow(turn));  // The job may have held nothing before.
    job.shares = shares;
    job.lost_shares = lost;
    ShowCosts(turn, job);
    Touch(job);
    if (IsOver(job)) continue;
    GrantSpending(turn, job);  // Its new nodes are told of it with their first order.
    if (!job.active && CostOf(job)->budget() > 0) turn.Wake(job, turn.now);  // It may have no room for the rest.
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
                                      IsSame(known, node->second) != (before && is_heard));
    };
    if (std::none_of(lost->begin(), lost->end(), is_it)) continue;
    CountCosts(turn, job);
    double part = 0;
    for (const Charged& known : *lost) part += is_it(known) ? known.part() : 0;
    if (is_back) HoldWhatRuns(node->second, part, job);
    lost->erase(std::remove_if(lost->begin(), lost->end(), is_it), lost->end());
    job.must_save = true;
    turn.state.plan_due = true;
    any = true;
  }
  return any;
}

void ForgetEndedNodes(Turn& turn, Job& job) {
  const double now = UnixNow(turn);
  int ended = 0;
  for (const Charged& held : job.record.held_nodes()) ended += now >= EndsBy(turn.state, held);
  if (std::exchange(job.held_and_ended, ended) != ended) turn.state.plan_due = true;
  auto* lost = job.record.mutable_lost_nodes();
  const auto has_ended = [&](const Charged& node) { return node.until() > 0 && node.until() <= now; };
  const auto rest = std::remove_if(lost->begin(), lost->end(), has_ended);
  if (rest != lost->end()) {
    lost->erase(rest, lost->end());
    job.must_save = true;
    turn.state.plan_due = true;
  }
  WakeAtEnds(turn, job);
}

void CountAbsence(Turn& turn, Job& job) {
  const double since = job.record.job().status().cost().until(), now = UnixNow(turn);
  job.counted_until = now;
  if (since > now) {  // The clock of the coordinator's machine was set back while it was away.
    MoveGrants(now - since, job);
    CostOf(job)->set_until(now);
  }
  if (since <= 0 || since >= now) return;
  job.charged_for.clear();
  for (const Charged& lost : job.record.lost_nodes()) {
    Charge(turn.state, job, lost, since, lost.until() > 0 ? std::min(lost.until(), now) : now, /*heard=*/false);
  }
  for (Charged& held : *job.record.mutable_held_nodes()) {
    if (held.until() == 0) held.set_until(job.record.granted_until());
    Charge(turn.state, job, held, since, std::min(now, EndsBy(turn.state, held)), /*heard=*/true);
  }
  v1::Cost* cost = CostOf(job);
  cost->set_until(now);
  if (!job.record.held_nodes().empty()) cost->set_hours(cost->hours() + (now - since) / kHour);
  job.must_save = true;
}

bool MayBeCharged(const Job& job) { return !IsOver(job) || !job.shares.empty(); }

void FollowClock(double step, Job& job) {
  if (step == 0 || !MayBeCharged(job)) return;
  job.counted_until += step;
  job.must_save = true;  // Who restarts the coordinator now reads it by the clock as it is now.
  v1::JobStatus* status = job.record.mutable_job()->mutable_status();
  if (status->submitted_at() > 0)
    status->set_submitted_at(status->submitted_at() + step);  // Its deadline is hours from it.
  v1::Cost* cost = CostOf(job);
  if (cost->until() > 0) cost->set_until(cost->until() + step);
  MoveGrants(step, job);
}

void HoldMembers(const State& state, Job& job) {
  std::map<std::string, Charged> held;
  for (const v1::Member& member : job.record.membership().members()) {
    const auto node = state.nodes.find(member.node());
    if (node == state.nodes.end()) continue;
    const double part = 1.0 / std::max(1, node->second.record.slots());
    const auto [at, is_new] = held.try_emplace(member.node());
    const double sum = part + (is_new ? 0 : at->second.part());
    at->second = Describe({node->first, &node->second, sum});
  }
  job.charged_for.clear();
  job.record.clear_held_nodes();
  for (auto& [name, node] : held) *job.record.add_held_nodes() = std::move(node);
}

}  // namespace rekindle::core
