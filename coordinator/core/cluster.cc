#include "coordinator/core/cluster.h"

#include <algorithm>

#include "coordinator/core/costs.h"
#include "coordinator/core/directives.h"
#include "coordinator/core/draining.h"
#include "coordinator/core/job_control.h"
#include "coordinator/core/micro_batch.h"
#include "coordinator/core/nodes.h"
#include "coordinator/core/planning.h"
#include "coordinator/core/pools.h"
#include "coordinator/core/precision.h"
#include "coordinator/core/progress.h"
#include "coordinator/core/state.h"
#include "coordinator/core/text.h"

namespace rekindle::core {
namespace {

constexpr double kSaveProgressSeconds = 1;
constexpr int kPlanRounds = 3;  // What a job gives up at once is there for others at once.

void SettleJob(Turn& turn, Job& job) {
  SettlePrecision(turn, job);
  SettleMicroBatch(turn, job);
}

// Whom an event can concern.
struct Concern {
  Job* job = nullptr;  // It alone; null: all, or nobody.
  bool all = false;
  bool nodes = false;  // What is known of nodes has changed, or is to be looked at.
};
constexpr Concern kAll{.all = true, .nodes = true};

struct Route {
  Turn& turn;

  Concern Of(const std::string& uid) const {
    const auto it = turn.state.jobs.find(uid);
    return {.job = it == turn.state.jobs.end() ? nullptr : &it->second};
  }
  Concern operator()(const SubmitJob& e) const {
    Submit(turn, e.record);
    Concern concern = Of(e.record.job().uid());
    if (concern.job != nullptr) SettleJob(turn, *concern.job);
    return concern;
  }
  Concern operator()(const CancelJob& e) const { return Cancel(turn, e.uid), Of(e.uid); }
  Concern operator()(const PauseJob& e) const { return Pause(turn, e.uid), Of(e.uid); }
  Concern operator()(const ResumeJob& e) const { return Resume(turn, e.uid, e.budget), Of(e.uid); }
  Concern operator()(const DrainNode& e) const { return Drain(turn, e.node, e.within_seconds, e.reason), kAll; }
  // That a node lives concerns only jobs on it that do not train: whoever forms a membership waits for that.
  Concern operator()(const NodeReported& e) const {
    if (AcceptNodeReport(turn, e.report)) return kAll;
    Concern concern;
    const auto node = turn.state.nodes.find(e.report.node());
    if (node == turn.state.nodes.end()) return concern;
    for (const auto& [slot, uid] : node->second.slots) {
      const auto job = turn.state.jobs.find(uid);
      if (job == turn.state.jobs.end() || job->second.active || concern.job == &job->second) continue;
      if (concern.job != nullptr) return {.all = true};
      concern.job = &job->second;
    }
    return concern;
  }
  Concern operator()(const PoolReported& e) const { return TakePoolReport(turn, e), Concern{}; }
  Concern operator()(const Tick&) const {
    for (auto& [uid, job] : turn.state.jobs) {
      if (job.wake_at <= turn.now) Advance(turn, job);
    }
    return {};
  }
  Concern operator()(const ClockSet& e) const { return turn.state.wall_offset = e.wall_offset, kAll; }
  Concern operator()(const PricesSet& e) const {
    for (auto& [uid, job] : turn.state.jobs) {
      CountCosts(turn, job);  // So far at the old ones.
      job.shares.clear();
    }
    turn.state.prices = e.prices;
    turn.state.plan_due = true;
    return kAll;
  }
  // Trainers report often, and seldom say anything that concerns nodes.
  Concern operator()(const TrainerReported& e) const {
    Concern concern = Of(e.report.job_uid());
    if (concern.job == nullptr) return concern;
    AcceptReport(turn, *concern.job, e.report);
    concern.nodes = turn.state.any_lost && (IsLost(e.report.node()) || HasLostMember(*concern.job));
    return concern;
  }
  bool IsLost(const std::string& name) const {
    const auto node = turn.state.nodes.find(name);
    return node != turn.state.nodes.end() && node->second.lost;
  }
  // A step completes on all of them.
  bool HasLostMember(const Job& job) const {
    const auto& members = job.record.membership().members();
    return std::any_of(members.begin(), members.end(), [&](const v1::Member& member) { return IsLost(member.node()); });
  }
  Concern operator()(const Restored& e) const {
    State& state = turn.state;
    state.started = turn.now;
    state.wall_offset = e.wall_offset;
    state.prices = e.prices;
    state.restarted = !e.jobs.empty();
    for (const v1::NodeRecord& node : e.nodes) AdoptNode(turn, node);
    for (const v1::JobRecord& job : e.jobs) {
      Adopt(turn, job);
      // The slots of the members are taken, whoever reports first.
      for (const v1::Member& member : job.membership().members()) {
        const auto node = state.nodes.find(member.node());
        if (node != state.nodes.end() && !IsOver(state.jobs[job.job().uid()]) && SlotOf(member.trainer()) >= 0) {
          node->second.slots.emplace(SlotOf(member.trainer()), job.job().uid());
        }
      }
    }
    return kAll;
  }
};

void Collect(Turn& turn, Job& job) {
  if (job.status_changed || job.must_save) turn.effects.changed_jobs.push_back(job.record.job().name());
  const bool due = job.status_changed && turn.now >= job.saved_at + kSaveProgressSeconds;
  if (job.must_save || due) {
    turn.effects.save_jobs.push_back(job.record);
    job.saved_at = turn.now;
    job.must_save = false;
    job.status_changed = false;
  }
  if (job.status_changed) job.wake_at = std::min(job.wake_at, job.saved_at + kSaveProgressSeconds);
}

// The whole of it, or one.
void CollectJobs(Turn& turn, Job* only, bool all) {
  State& state = turn.state;
  if (all) {
    state.jobs_wake_at = kNever;
    for (const std::string& uid : state.order) {
      Job& job = state.jobs.at(uid);
      Collect(turn, job);
      state.jobs_wake_at = std::min(state.jobs_wake_at, job.wake_at);
    }
  } else if (only != nullptr) {
    Collect(turn, *only);
    state.jobs_wake_at = std::min(state.jobs_wake_at, only->wake_at);  // Of an earlier look at the latest.
  }
  turn.effects.wake_at = std::min({state.watch_nodes_at, state.jobs_wake_at, state.plan_at});
}

void CollectNode(Turn& turn, NodeState& node) {
  if (node.must_save) turn.effects.save_nodes.push_back(node.record);
  node.must_save = false;
}

void CollectNodes(Turn& turn, const Event& event, bool all) {
  if (all) {
    for (auto& [name, node] : turn.state.nodes) CollectNode(turn, node);
  } else if (const auto* report = std::get_if<NodeReported>(&event)) {
    const auto node = turn.state.nodes.find(report->report.node());
    if (node != turn.state.nodes.end()) CollectNode(turn, node->second);
  }
}

// Did a cycle run?
bool Plan(Turn& turn) {
  std::vector<Job*> again;
  bool planned = false;
  for (int i = 0; i < kPlanRounds && PlanJobs(turn, &again); ++i) {
    planned = true;
    for (Job* job : again) {
      Advance(turn, *job);
      CheckPlanned(turn.state, *job);
    }
  }
  return planned;
}

}  // namespace

struct Cluster::Impl : State {};

Cluster::Cluster(Tunables tunables) : impl_(new Impl) { impl_->tunables = tunables; }
Cluster::~Cluster() { delete impl_; }
Cluster::Cluster(const Cluster& other) : impl_(new Impl(*other.impl_)) {}
Cluster& Cluster::operator=(const Cluster& other) {
  *impl_ = *other.impl_;
  return *this;
}

Effects Cluster::Step(const Event& event, double now) {
  Effects effects;
  State& state = *impl_;
  Turn turn{state, effects, now};
  Concern concern = std::visit(Route{turn}, event);
  if (concern.all) {
    for (auto& [uid, job] : state.jobs) Advance(turn, job);
  } else if (concern.job != nullptr) {
    Advance(turn, *concern.job);
    CheckPlanned(state, *concern.job);
    concern.nodes = concern.nodes || concern.job->must_save;
  }
  const bool due = concern.nodes || now >= state.watch_nodes_at;
  if (due) {
    state.watch_nodes_at = WatchNodes(turn);
    for (const std::string& uid : state.order) SettleJob(turn, state.jobs.at(uid));
  }
  if (due || concern.all || std::holds_alternative<Tick>(event)) {
    for (auto& [uid, job] : state.jobs) CheckPlanned(state, job);
  }
  const bool planned = Plan(turn);
  if (due || planned) ShareNodes(turn);
  const bool any = due || planned || concern.all || std::holds_alternative<Tick>(event);
  effects.quiet = !any && concern.job == nullptr && std::holds_alternative<NodeReported>(event);
  CollectJobs(turn, any ? nullptr : concern.job, any);
  CollectNodes(turn, event, any);
  return effects;
}

v1::TrainerDirective Cluster::DirectiveForTrainer(const std::string& job_uid, const std::string& trainer) const {
  const auto it = impl_->jobs.find(job_uid);
  return it == impl_->jobs.end() ? UnknownJobDirective(job_uid) : TrainerDirectiveFor(*impl_, it->second, trainer);
}

v1::NodeDirective Cluster::DirectiveForNode(const std::string& node) const { return NodeDirectiveFor(*impl_, node); }

const v1::JobRecord* Cluster::FindJob(const std::string& name_or_uid) const {
  const auto by_uid = impl_->jobs.find(name_or_uid);
  if (by_uid != impl_->jobs.end()) return &by_uid->second.record;
  const v1::JobRecord* newest = nullptr;  // Names are free again when a job is over: the newest has it.
  for (const std::string& uid : impl_->order) {
    const v1::JobRecord& record = impl_->jobs.at(uid).record;
    if (record.job().name() == name_or_uid) newest = &record;
  }
  return newest;
}

std::vector<const v1::JobRecord*> Cluster::Jobs() const {
  std::vector<const v1::JobRecord*> jobs;
  for (const std::string& uid : impl_->order) jobs.push_back(&impl_->jobs.at(uid).record);
  return jobs;
}

std::vector<v1::Node> Cluster::Nodes(double now) const { return ListNodes(*impl_, now); }

}  // namespace rekindle::core
