#include "coordinator/core/routes.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "coordinator/core/account/costs.h"
#include "coordinator/core/charges/absence.h"
#include "coordinator/core/charges/charged_nodes.h"
#include "coordinator/core/choices/micro_batch.h"
#include "coordinator/core/choices/precision.h"
#include "coordinator/core/generation/fence.h"
#include "coordinator/core/keeping/forgetting.h"
#include "coordinator/core/machines/draining.h"
#include "coordinator/core/machines/registering.h"
#include "coordinator/core/nodes/node_reports.h"
#include "coordinator/core/planning/pools.h"
#include "coordinator/core/record/listening.h"
#include "coordinator/core/record/record_age.h"
#include "coordinator/core/record/store_search.h"
#include "coordinator/core/reports/found.h"
#include "coordinator/core/reports/job_admission.h"
#include "coordinator/core/reports/trainer_reports.h"
#include "coordinator/core/state/text.h"
#include "coordinator/core/taken_over/fresh_start.h"
#include "coordinator/core/verbs.h"

namespace rekindle::core {
namespace {

Concern All() { return {.all = true, .nodes = true}; }

struct Route {
  Turn& turn;

  Concern Of(const std::string& uid) const {
    const auto it = turn.state.jobs.find(uid);
    if (it == turn.state.jobs.end()) return {};
    return {.jobs = {&it->second}};
  }
  Concern operator()(const SubmitJob& e) const {
    Submit(turn, e.record);
    Concern concern = Of(e.record.job().uid());
    for (Job* job : concern.jobs) {
      ResolvePrecision(turn, *job);
      ResolveMicroBatch(turn, *job);
    }
    return concern;
  }
  Concern operator()(const CancelJob& e) const { return Cancel(turn, e.uid, e.discard), Of(e.uid); }
  Concern operator()(const PauseJob& e) const { return Pause(turn, e.uid), Of(e.uid); }
  Concern operator()(const ResumeJob& e) const { return Resume(turn, e), Of(e.uid); }
  Concern operator()(const AdoptJob& e) const { return AdoptFound(turn, e.uid), TakeProcessesAgain(turn), All(); }
  Concern operator()(const ForgetJob& e) const { return ForgetAsAsked(turn, e.uid), All(); }
  Concern operator()(const NodeGone& e) const { return TakeNodeGone(turn, e.node), All(); }
  Concern operator()(const LeaseChecked& e) const {
    Concern concern = Of(e.uid);
    for (Job* job : concern.jobs) TakeLease(turn, *job, e);
    return concern;
  }
  Concern operator()(const DrainNode& e) const { return Drain(turn, e.node, e.within_seconds, e.reason), All(); }
  Concern operator()(const UndrainNode& e) const { return Undrain(turn, e.node), All(); }
  // Takes an agent's report. A report that says only that the node lives concerns just those jobs on the node that do
  // not train: such a job may wait to hear from the node, so as to form a membership.
  Concern operator()(const NodeReported& e) const {
    if (AcceptNodeReport(turn, e)) return All();
    Concern concern;
    const auto node = turn.state.nodes.find(e.report.node());
    if (node == turn.state.nodes.end()) return concern;
    for (const auto& [slot, uid] : node->second.slots) {
      const auto job = turn.state.jobs.find(uid);
      if (job == turn.state.jobs.end() || job->second.active) continue;
      if (std::find(concern.jobs.begin(), concern.jobs.end(), &job->second) != concern.jobs.end()) continue;
      concern.jobs.push_back(&job->second);
    }
    return concern;
  }
  Concern operator()(const PoolReported& e) const {
    TakePoolReport(turn, e);
    return e.ended.empty() ? Concern{} : All();
  }
  Concern operator()(const Tick&) const {
    Concern concern;
    turn.state.jobs_wake_at = kNever;
    for (auto& [uid, job] : turn.state.jobs) {
      if (job.wake_at <= turn.now) {
        concern.jobs.push_back(&job);
      } else {
        turn.state.jobs_wake_at = std::min(turn.state.jobs_wake_at, job.wake_at);
      }
    }
    return concern;
  }
  // Handles all that was heard while the cluster listened. Nothing is decided on a part of it, because only all of it
  // says who lives and in which generation.
  Concern operator()(const ListenedFirst& e) const {
    State& state = turn.state;
    state.epoch = e.epoch;
    state.started = turn.now;
    state.restarted = true;
    const std::vector<Event> kept = EndListening(state.listening);
    for (const Event& event : kept) (void)RouteEvent(turn, event);
    for (auto& [uid, job] : state.jobs) {
      ForgetEnd(turn, job);
      if (!IsBehind(job)) StartWaitingAnew(turn, job);
      AskToLook(turn, job);
    }
    return All();
  }
  // Charges jobs for the time in which `now` stood still, for example while the coordinator's machine slept: the jobs'
  // own machines ran on, and may have ended meanwhile. Where the clock was only set, no time has passed, and nothing is
  // charged.
  Concern operator()(const ClockSet& e) const {
    State& state = turn.state;
    const double step = e.wall_offset - state.wall_offset - e.stood_still;
    for (auto& [uid, job] : state.jobs) CountCosts(turn, job);
    state.wall_offset = e.wall_offset;
    for (auto& [uid, job] : state.jobs) {
      FollowClock(turn, step, job);
      if (e.stood_still > 0 && MayBeCharged(job)) CountAbsence(turn, job);
    }
    for (auto& [name, pool] : state.pools) FollowClock(turn, step, pool);
    return All();
  }
  // Counts the costs of all jobs up to now, and lets their rates be shown anew.
  void CountAll() const {
    for (auto& [uid, job] : turn.state.jobs) {
      CountCosts(turn, job);
      job.account.rate_is_old = true;
    }
  }
  Concern operator()(const PricesSet& e) const {
    // Counts the costs up to now before the prices change, so that they are counted at the old prices.
    CountAll();
    PriceBook prices = e.prices;
    KeepHeard(turn.state.prices, prices);
    turn.state.prices = std::move(prices);
    // The fleet file may name another image for the pool's machines.
    for (auto& [name, pool] : turn.state.pools) pool.unable = {};
    turn.Replan();
    return All();
  }
  Concern operator()(const PriceHeard& e) const {
    if (!TakePrice(e, UnixNow(turn), turn.state.prices)) return Concern{};
    CountAll();
    turn.Replan();
    return All();
  }
  Concern operator()(const CarbonSet& e) const {
    // Counts the emissions up to now before the carbon intensities change, so that they are counted with the old ones.
    for (auto& [uid, job] : turn.state.jobs) CountCosts(turn, job);
    turn.state.carbon = e.carbon;
    turn.Replan();
    return All();
  }
  // A trainer's report has the nodes looked at only where it may show that a lost node lives. Trainers report often,
  // and to look at all nodes each time would take long.
  Concern operator()(const TrainerReported& e) const {
    Concern concern = Of(e.report.job_uid());
    if (concern.jobs.empty()) return TakeReportOfFound(turn, e.report), concern;
    Job& job = *concern.jobs.front();
    AcceptReport(turn, job, e.report);
    concern.nodes = turn.state.any_lost && (IsLost(e.report.node()) || HasLostMember(job));
    return concern;
  }
  bool IsLost(const std::string& name) const {
    const auto node = turn.state.nodes.find(name);
    return node != turn.state.nodes.end() && node->second.lost;
  }
  // Returns whether a member of the job is on a lost node. A step completes on all members' nodes or on none, so a
  // member's report of a completed step shows that the lost node lives.
  bool HasLostMember(const Job& job) const {
    const auto& members = job.record.membership().members();
    return std::any_of(members.begin(), members.end(), [&](const v1::Member& member) { return IsLost(member.node()); });
  }
  void KeepSlot(const v1::JobRecord& job, const std::string& trainer) const {
    const auto node = turn.state.nodes.find(NodeOf(trainer));
    const std::string& uid = job.job().uid();
    if (node == turn.state.nodes.end() || IsOver(turn.state.jobs[uid]) || SlotOf(trainer) < 0) return;
    // The node's agent was told to leave, so the node serves no job.
    if (!node->second.record.drained_agent().empty()) return;
    node->second.slots.emplace(SlotOf(trainer), uid);
  }
  Concern operator()(const Restored& e) const {
    State& state = turn.state;
    state.started = turn.now;
    state.cluster = e.cluster;
    state.epoch = e.epoch;
    state.listening.on = e.listen_first;
    state.wall_offset = e.wall_offset;
    state.prices = e.prices;
    state.carbon = e.carbon;
    state.restarted = !e.jobs.empty() || !e.pools.empty();
    for (const v1::NodeRecord& node : e.nodes) AdoptNode(turn, node);
    for (const v1::PoolRecord& pool : e.pools) AdoptPool(turn, pool);
    for (const v1::JobRecord& job : e.jobs) {
      Adopt(turn, job);
      // Trainers of the job that are members, or wait to be, get their slots from the job's record. So their slots do
      // not depend on which node reports first after a restart of the coordinator.
      const Job& adopted = state.jobs[job.job().uid()];
      for (const v1::Member& member : adopted.record.membership().members()) {
        const Trainer* trainer = FindTrainer(adopted, member.trainer());
        // A member that was not needed to keep the final state has no slot any more.
        if (IsFinishing(adopted) && trainer != nullptr && !trainer->death.empty()) continue;
        KeepSlot(job, member.trainer());
      }
      for (const v1::JobRecord::Identity& one : job.identities()) KeepSlot(job, AnyTrainerOf(one.slot()));
    }
    return All();
  }
};

}  // namespace

Concern RouteEvent(Turn& turn, const Event& event) { return std::visit(Route{turn}, event); }

}  // namespace rekindle::core
