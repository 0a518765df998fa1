#include "coordinator/core/generation/fence.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "coordinator/core/certainty/certainty.h"
#include "coordinator/core/certainty/generation_lease.h"
#include "coordinator/core/charges/lost_charges.h"
#include "coordinator/core/members/deaths.h"
#include "coordinator/core/state/regroup.h"
#include "coordinator/core/state/text.h"
#include "coordinator/core/stopping/halting.h"

namespace rekindle::core {
namespace {

std::vector<std::string> NodesOf(const v1::Membership& membership) {
  std::vector<std::string> nodes;
  for (const v1::Member& member : membership.members()) {
    if (std::find(nodes.begin(), nodes.end(), member.node()) == nodes.end()) nodes.push_back(member.node());
  }
  return nodes;
}

// Returns whether a generation ends when its members hear nothing of the coordinator. It does not where the coordinator
// of an earlier epoch formed it, because that coordinator may still tell the members that their generation goes on.
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

void End(const Turn& turn, Job& job) {
  job.record.set_ended_generation(job.record.membership().generation());
  turn.Save(job);
  job.regroup.silence.clear();
  // Makes a planning cycle due where a node is lost. Slots on lost nodes were kept while the generation that has ended
  // might still step, and other jobs may have them now.
  turn.state.plan_due = turn.state.plan_due || turn.state.any_lost;
}

// Records that none of the trainers on the node runs any more. Returns false where the node has neither a trainer nor a
// member of a job that still goes on.
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
    for (const std::string& id : ids) RecordDeath(turn, job, id, FaultKind::kNodeKilled, death);
  }
  return any;
}

// Records the death of the members on a node whose name another machine has now. Returns false where there are no such
// members.
bool EndGivenUpOn(Turn& turn, const std::string& node) {
  bool any = false;
  for (auto& [uid, job] : turn.state.jobs) {
    if (IsOver(job)) continue;
    for (const v1::Member& member : job.record.membership().members()) {
      const Trainer* trainer = FindTrainer(job, member.trainer());
      if (member.node() != node || trainer == nullptr || trainer->death.empty() || trainer->certain) continue;
      RecordDeath(turn, job, member.trainer(), FaultKind::kNodeKilled, "is gone with its node, its operator says");
      any = true;
    }
  }
  return any;
}

// Returns whether there is any sign that the member's process is gone. A weak sign is enough to have an agent look for
// the process, and where the agent does not find it, nobody has to wait for the lease to end.
bool IsMissing(const State& state, const v1::Member& member, const Trainer* trainer) {
  if (trainer != nullptr && !trainer->death.empty()) return true;
  const auto node = state.nodes.find(member.node());
  if (node == state.nodes.end() || !node->second.reported || node->second.lost) return true;
  if (trainer != nullptr && trainer->reported && trainer->heard >= node->second.heard) return false;
  return std::none_of(node->second.report.trainers().begin(), node->second.report.trainers().end(),
                      [&](const v1::TrainerProcess& process) { return process.trainer() == member.trainer(); });
}

// Returns whether a report of a member, or of the agent of its node, has arrived in this turn. A report of somebody
// else that the member is gone does not count.
bool AnyIsHeard(const Turn& turn, const Job& job) {
  const auto& members = job.record.membership().members();
  return std::any_of(members.begin(), members.end(), [&](const v1::Member& member) {
    const Trainer* trainer = FindTrainer(job, member.trainer());
    const auto node = turn.state.nodes.find(member.node());
    return (trainer != nullptr && trainer->heard == turn.now) ||
           (node != turn.state.nodes.end() && node->second.heard == turn.now);
  });
}

// Forgets the silence of a generation, because some of its members are heard of again.
void ForgetSilence(Turn& turn, Job& job) {
  job.regroup.ask_lease_at = -kNever;
  if (!job.active) ShowRegrouping(turn, job);
  if (job.regroup.silence.empty()) return;
  job.regroup.heard_again = turn.now;
  job.regroup.silence.clear();
  turn.Emit(&job, "members_heard",
            absl::StrCat("generation ", job.record.membership().generation(), " is heard of again"));
}

}  // namespace

bool NoteEnd(Turn& turn, Job& job, const std::vector<MemberView>& views) {
  if (HasEnded(job)) return true;
  const bool ended = std::any_of(views.begin(), views.end(), [&](const MemberView& view) {
    return view.standing == Standing::kDead || view.standing == Standing::kStopped;
  });
  if (ended && !job.regroup.silence.empty() && AnyIsHeard(turn, job)) job.regroup.heard_again = turn.now;
  if (ended) End(turn, job);
  return ended;
}

void ForgetEnd(const Turn& turn, Job& job) {
  if (IsOver(job) || job.record.membership().members_size() == 0) return;
  job.record.set_ended_generation(job.record.membership().generation() - 1);
  turn.Save(job);
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
  if (job.regroup.silence.empty()) turn.Emit(&job, "members_silent", text, membership.members(0).node());
  job.regroup.silence = text;
  ShowSilence(turn, job);
  if (!EndsBySilence(turn.state, membership)) return;
  double heard = turn.state.started;
  for (const MemberView& view : views) {
    if (view.trainer != nullptr && view.trainer->reported) heard = std::max(heard, view.trainer->heard);
  }
  const double ask_at = std::max(heard + SilenceThatEnds(membership), job.regroup.ask_lease_at);
  if (turn.now < ask_at) return turn.Wake(job, ask_at);
  turn.effects.leases.push_back({job.record.job().uid(), membership.generation(), SilenceThatEnds(membership)});
}

void TakeLease(Turn& turn, Job& job, const LeaseChecked& checked) {
  if (IsOver(job) || HasEnded(job) || checked.generation != job.record.membership().generation()) return;
  if (checked.seconds_left > 0) {
    // Each answer to a member renews the members' lease. The server gave such an answer after the core had last heard
    // of a member, so the lease ends later than the core thought.
    job.regroup.ask_lease_at = turn.now + checked.seconds_left;
    return turn.Wake(job, job.regroup.ask_lease_at);
  }
  End(turn, job);
  OpenForming(turn, job,
              absl::StrCat("nobody of generation ", checked.generation, " was heard of, and their lease of ",
                           Seconds(job.record.membership().lease_seconds()), " has ended"),
              /*failure=*/true);
}

void TakeNodeGone(Turn& turn, const std::string& name) {
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

void TakeEndedMachines(Turn& turn, const PoolReported& report) {
  for (const std::string& name : report.ended) {
    const auto node = turn.state.nodes.find(name);
    if (node == turn.state.nodes.end() || (node->second.reported && !node->second.lost)) continue;
    if (node->second.record.pool() != report.pool) continue;
    node->second.ended = true;
    (void)ForgetLostNode(turn, name);
    (void)RecordDeathsOn(turn, name, "is gone with its machine, its provider says");
  }
}

void RefreshSought(const Turn& turn, double now) {
  turn.state.sought.clear();
  std::set<std::string> doubted;
  const double begins = turn.state.started + turn.state.tunables.reconnect_seconds;
  if (now < begins) {
    // Before `begins` no missing member is searched for, because trainers may still be on their way back to the
    // restarted coordinator. At `begins` the core searches even if no report arrives.
    turn.state.watch_nodes_at = std::min(turn.state.watch_nodes_at, begins);
    return;
  }
  for (const auto& [uid, job] : turn.state.jobs) {
    if (IsOver(job)) continue;
    for (const v1::JobRecord::ChargedNode& lost : job.record.lost_nodes()) doubted.insert(lost.node());
    if (HasEnded(job)) continue;
    for (const v1::Member& member : job.record.membership().members()) {
      if (!IsMissing(turn.state, member, FindTrainer(job, member.trainer()))) continue;
      const auto node = turn.state.nodes.find(member.node());
      if (node != turn.state.nodes.end() && (node->second.lost || !node->second.reported))
        doubted.insert(member.node());
      if (member.process().pid() == 0) continue;
      v1::SoughtTrainer sought;
      sought.set_job_uid(uid);
      sought.set_trainer(member.trainer());
      *sought.mutable_process() = member.process();
      turn.state.sought.push_back(std::move(sought));
    }
  }
  if (doubted == turn.state.doubted) return;
  turn.state.doubted = std::move(doubted);
  // Makes a planning cycle due, because only that sends orders to the pools. An order names the doubted nodes, so that
  // the provider says whether their machines have ended.
  turn.Replan();
}

void TakeAbsentTrainers(Turn& turn, const v1::NodeReport& report) {
  if (turn.state.sought.empty()) return;
  const std::set<std::string> absent(report.absent_trainers().begin(), report.absent_trainers().end());
  for (const v1::SoughtTrainer& sought : std::vector<v1::SoughtTrainer>(turn.state.sought)) {
    const auto job = turn.state.jobs.find(sought.job_uid());
    if (job == turn.state.jobs.end() || IsOver(job->second) || HasEnded(job->second)) continue;
    if (absent.count(sought.trainer()) == 0 || !IsSameMachine(sought.process().machine(), report.machine())) continue;
    RecordDeath(turn, job->second, sought.trainer(), FaultKind::kNodeKilled,
                absl::StrCat("does not run any more (agent of ", report.node(), ", on the same machine)"));
  }
}

}  // namespace rekindle::core
