#include "coordinator/core/fence.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "coordinator/core/charged_nodes.h"
#include "coordinator/core/deaths.h"
#include "coordinator/core/forming.h"
#include "coordinator/core/halting.h"
#include "coordinator/core/text.h"

namespace rekindle::core {
namespace {

// Clocks that are not set run at most so much faster or slower than each other.
constexpr double kClocksDiffer = 1.01;

// Could a generation of the job be formed elsewhere?
bool IsElsewherePossible(const State& state, const Job& job) {
  std::set<std::string> own;
  for (const v1::Member& member : job.record.membership().members()) own.insert(member.node());
  for (const auto& [name, pool] : state.prices.pools) {
    if (pool.ordered) return true;
  }
  return std::any_of(state.nodes.begin(), state.nodes.end(),
                     [&](const auto& node) { return !node.second.lost && own.count(node.first) == 0; });
}

std::vector<std::string> NodesOf(const v1::Membership& membership) {
  std::vector<std::string> nodes;
  for (const v1::Member& member : membership.members()) {
    if (std::find(nodes.begin(), nodes.end(), member.node()) == nodes.end()) nodes.push_back(member.node());
  }
  return nodes;
}

// Of a generation that an earlier epoch's coordinator formed that one may still tell its members that it stands.
bool EndsBySilence(const State& state, const v1::Membership& membership) {
  return membership.lease_seconds() > 0 && Epoch{membership.epoch(), membership.epoch_tag()} == state.epoch;
}

std::string DescribeSilence(const State& state, const v1::Membership& membership) {
  const std::vector<std::string> nodes = NodesOf(membership);
  const std::string silent =
      absl::StrCat("nothing is heard of ", Bounded(JoinWords(nodes), 300), ", and nobody else knows whether the ",
                   membership.members_size() == 1 ? "member" : "members", " of generation ", membership.generation(),
                   membership.members_size() == 1 ? " still steps" : " still step");
  const std::string gone =
      absl::StrCat("`rekindle nodes gone ", nodes.front(), "` where its machine does not run any more");
  if (!EndsBySilence(state, membership)) return absl::StrCat(silent, "; the job waits for them; ", gone);
  return absl::StrCat(silent, "; the job goes on elsewhere at the latest ", Seconds(SilenceThatEnds(membership)),
                      " after the last answer that they got; sooner: ", gone);
}

void End(State& state, Job& job) {
  job.record.set_ended_generation(job.record.membership().generation());
  job.must_save = true;
  job.silence.clear();
  state.plan_due = state.plan_due || state.any_lost;  // Slots of lost nodes were kept for it.
}

// Nothing runs on that node any more. False: no job has anything there.
bool RecordDeathsOn(Turn& turn, const std::string& node, const std::string& death) {
  bool any = false;
  for (auto& [uid, job] : turn.state.jobs) {
    if (IsOver(job)) continue;
    std::set<std::string> ids;
    for (const auto& [id, trainer] : job.trainers) {
      if (NodeOf(id) == node) ids.insert(id);
    }
    for (const v1::Member& member : job.record.membership().members()) {
      if (member.node() == node) ids.insert(member.trainer());
    }
    any = any || !ids.empty();
    for (const std::string& id : ids) RecordDeath(turn, job, id, "node_killed", death);
  }
  return any;
}

// Of members whose node's name another machine has now. False: there are none.
bool EndGivenUpOn(Turn& turn, const std::string& node) {
  bool any = false;
  for (auto& [uid, job] : turn.state.jobs) {
    if (IsOver(job)) continue;
    for (const v1::Member& member : job.record.membership().members()) {
      const Trainer* trainer = FindTrainer(job, member.trainer());
      if (member.node() != node || trainer == nullptr || trainer->death.empty() || trainer->certain) continue;
      RecordDeath(turn, job, member.trainer(), "node_killed", "is gone with its node, its operator says");
      any = true;
    }
  }
  return any;
}

// Where an agent can tell at once, nobody needs to wait.
bool IsMissing(const State& state, const v1::Member& member, const Trainer* trainer) {
  if (trainer != nullptr && !trainer->death.empty()) return true;
  const auto node = state.nodes.find(member.node());
  if (node == state.nodes.end() || !node->second.reported || node->second.lost) return true;
  if (trainer != nullptr && trainer->reported && trainer->heard >= node->second.heard) return false;
  return std::none_of(node->second.report.trainers().begin(), node->second.report.trainers().end(),
                      [&](const v1::TrainerProcess& process) { return process.trainer() == member.trainer(); });
}

// Has a member or its agent spoken in this turn? That one of them is gone others can say, too.
bool AnyIsHeard(const Turn& turn, const Job& job) {
  const auto& members = job.record.membership().members();
  return std::any_of(members.begin(), members.end(), [&](const v1::Member& member) {
    const Trainer* trainer = FindTrainer(job, member.trainer());
    const auto node = turn.state.nodes.find(member.node());
    return (trainer != nullptr && trainer->heard == turn.now) ||
           (node != turn.state.nodes.end() && node->second.heard == turn.now);
  });
}

// Some are heard of again.
void ForgetSilence(Turn& turn, Job& job) {
  job.ask_lease_at = -kNever;
  if (!job.active) ShowRegrouping(job);
  if (job.silence.empty()) return;
  job.heard_again = turn.now;
  job.silence.clear();
  turn.Emit(&job, "members_heard",
            absl::StrCat("generation ", job.record.membership().generation(), " is heard of again"));
}

}  // namespace

bool HasEnded(const Job& job) { return job.record.ended_generation() >= job.record.membership().generation(); }

bool IsGone(const Job& job, const Trainer& trainer) {
  if (trainer.death.empty()) return false;
  return IsMemberGone(job, trainer) || FindMember(job, trainer.report.trainer()) == nullptr;
}

bool IsMemberGone(const Job& job, const Trainer& trainer) {
  return !trainer.death.empty() && (trainer.certain || HasEnded(job));
}

bool NoteEnd(Turn& turn, Job& job, const std::vector<MemberView>& views) {
  if (HasEnded(job)) return true;
  const bool ended = std::any_of(views.begin(), views.end(), [&](const MemberView& view) {
    return view.standing == Standing::kDead || view.standing == Standing::kStopped;
  });
  if (ended && !job.silence.empty() && AnyIsHeard(turn, job)) job.heard_again = turn.now;
  if (ended) End(turn.state, job);
  return ended;
}

void ForgetEnd(Job& job) {
  if (IsOver(job) || job.record.membership().members_size() == 0) return;
  job.record.set_ended_generation(job.record.membership().generation() - 1);
  job.must_save = true;
}

void SetLease(const State& state, const Job& job, v1::Membership* next) {
  const Tunables& tunables = state.tunables;
  next->set_lease_save_seconds(tunables.lease_save_seconds);
  next->set_lease_step_seconds(tunables.lease_step_seconds);
  const std::string& lease = SpecOf(job).recovery().lease();
  if (lease == kNoLease || !IsElsewherePossible(state, job)) return;
  double seconds = tunables.lease_seconds;
  if (!lease.empty() && !absl::SimpleAtod(lease, &seconds)) seconds = tunables.lease_seconds;
  next->set_lease_seconds(seconds);
}

double SilenceThatEnds(const v1::Membership& membership) {
  if (membership.lease_seconds() <= 0) return std::numeric_limits<double>::infinity();
  return kClocksDiffer *
         (membership.lease_seconds() + membership.lease_save_seconds() + membership.lease_step_seconds());
}

void AwaitEnd(Turn& turn, Job& job, const std::vector<MemberView>& views) {
  double all_gone_at = 0;
  for (const MemberView& view : views) all_gone_at = std::max(all_gone_at, view.gone_at);
  if (turn.now < all_gone_at) {
    ForgetSilence(turn, job);
    return turn.Wake(job, all_gone_at);
  }
  const v1::Membership& membership = job.record.membership();
  const std::string text = DescribeSilence(turn.state, membership);
  if (job.silence.empty()) turn.Emit(&job, "members_silent", text, membership.members(0).node());
  job.silence = text;
  ShowSilence(job);
  if (!EndsBySilence(turn.state, membership)) return;
  double heard = turn.state.started;
  for (const MemberView& view : views) {
    if (view.trainer != nullptr && view.trainer->reported) heard = std::max(heard, view.trainer->heard);
  }
  const double ask_at = std::max(heard + SilenceThatEnds(membership), job.ask_lease_at);
  if (turn.now < ask_at) return turn.Wake(job, ask_at);
  turn.effects.leases.push_back({job.record.job().uid(), membership.generation(), SilenceThatEnds(membership)});
}

void TakeLease(Turn& turn, Job& job, const LeaseChecked& checked) {
  if (IsOver(job) || HasEnded(job) || checked.generation != job.record.membership().generation()) return;
  if (checked.seconds_left > 0) {  // A member was answered since.
    job.ask_lease_at = turn.now + checked.seconds_left;
    return turn.Wake(job, job.ask_lease_at);
  }
  End(turn.state, job);
  OpenForming(turn, job,
              absl::StrCat("nobody of generation ", checked.generation, " was heard of, and their lease of ",
                           Seconds(job.record.membership().lease_seconds()), " has ended"),
              /*failure=*/true);
}

void TakeGone(Turn& turn, const std::string& name) {
  const auto node = turn.state.nodes.find(name);
  const bool is_heard = node != turn.state.nodes.end() && node->second.reported && !node->second.lost;
  const bool was_charged = is_heard && ForgetLostNode(turn, name, /*before=*/true);
  if (is_heard && (EndGivenUpOn(turn, name) || was_charged)) {
    turn.Emit(nullptr, "node_gone",
              absl::StrCat("the machine that was node ", name, " before does not run any more, its ", "operator says"),
              name);
    return;
  }
  if (is_heard) {
    turn.effects.status = absl::FailedPreconditionError(absl::StrCat(
        "node ", name, " was heard of ", std::lround(turn.now - node->second.heard),
        " s ago: its machine runs; `rekindle drain ", name, "` takes it out, or try again when it is lost"));
    return;
  }
  if (node != turn.state.nodes.end()) node->second.ended = true;
  const bool is_charged = ForgetLostNode(turn, name);
  const bool serves = RecordDeathsOn(turn, name, "is gone with its node, its operator says");
  if (!serves && !is_charged && node == turn.state.nodes.end()) {
    turn.effects.status = absl::NotFoundError(
        absl::StrCat("no node has the name ", name, ", and no job a member there; `rekindle nodes` lists all"));
    return;
  }
  turn.Emit(nullptr, "node_gone", absl::StrCat("node ", name, " does not run any more, its operator says"), name);
}

void TakeEnded(Turn& turn, const PoolReported& report) {
  for (const std::string& name : report.ended) {
    const auto node = turn.state.nodes.find(name);
    if (node == turn.state.nodes.end() || (node->second.reported && !node->second.lost)) continue;
    if (node->second.record.pool() != report.pool) continue;
    node->second.ended = true;
    (void)ForgetLostNode(turn, name);
    (void)RecordDeathsOn(turn, name, "is gone with its machine, its provider says");
  }
}

void RefreshSought(State& state, double now) {
  state.sought.clear();
  std::set<std::string> doubted;
  const double begins = state.started + state.tunables.reconnect_seconds;
  if (now < begins) {
    state.watch_nodes_at = std::min(state.watch_nodes_at, begins);  // Those that are missing then say nothing.
    return;
  }
  for (const auto& [uid, job] : state.jobs) {
    if (IsOver(job)) continue;
    for (const v1::JobRecord::ChargedNode& lost : job.record.lost_nodes()) doubted.insert(lost.node());
    if (HasEnded(job)) continue;
    for (const v1::Member& member : job.record.membership().members()) {
      if (!IsMissing(state, member, FindTrainer(job, member.trainer()))) continue;
      const auto node = state.nodes.find(member.node());
      if (node != state.nodes.end() && (node->second.lost || !node->second.reported)) doubted.insert(member.node());
      if (member.process().pid() == 0) continue;
      v1::SoughtTrainer sought;
      sought.set_job_uid(uid);
      sought.set_trainer(member.trainer());
      *sought.mutable_process() = member.process();
      state.sought.push_back(std::move(sought));
    }
  }
  if (doubted == state.doubted) return;
  state.doubted = std::move(doubted);
  state.plan_due = true;  // Pools are told with their orders.
}

bool IsSameMachine(const v1::Machine& a, const v1::Machine& b) {
  return !a.boot().empty() && a.boot() == b.boot() && a.processes() == b.processes();
}

bool WasBootedAgain(const v1::Machine& before, const v1::Machine& now) {
  return !before.hardware().empty() && before.hardware() == now.hardware() && !before.boot().empty() &&
         !now.boot().empty() && before.boot() != now.boot();
}

bool ListsRunning(const NodeState& node, const std::string& trainer) {
  for (const v1::TrainerProcess& process : node.report.trainers()) {
    if (process.running() && process.trainer() == trainer) return true;
  }
  return false;
}

void TakeAbsent(Turn& turn, const v1::NodeReport& report) {
  if (turn.state.sought.empty()) return;
  const std::set<std::string> absent(report.absent_trainers().begin(), report.absent_trainers().end());
  for (const v1::SoughtTrainer& sought : std::vector<v1::SoughtTrainer>(turn.state.sought)) {
    const auto job = turn.state.jobs.find(sought.job_uid());
    if (job == turn.state.jobs.end() || IsOver(job->second) || HasEnded(job->second)) continue;
    if (absent.count(sought.trainer()) == 0 || !IsSameMachine(sought.process().machine(), report.machine())) continue;
    RecordDeath(turn, job->second, sought.trainer(), "node_killed",
                absl::StrCat("does not run any more (agent of ", report.node(), ", on the same machine)"));
  }
}

}  // namespace rekindle::core
