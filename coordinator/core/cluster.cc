#include "coordinator/core/cluster.h"

#include <algorithm>

#include "coordinator/core/costs.h"
#include "coordinator/core/directives.h"
#include "coordinator/core/draining.h"
#include "coordinator/core/job_control.h"
#include "coordinator/core/micro_batch.h"
#include "coordinator/core/nodes.h"
#include "coordinator/core/precision.h"
#include "coordinator/core/progress.h"
#include "coordinator/core/state.h"
#include "coordinator/core/text.h"

namespace rekindle::core {
namespace {

constexpr double kSaveProgressSeconds = 1;

// Routes one event; returns the only job it can concern, or null for all.
struct Route {
  Turn& turn;

  Job* operator()(const SubmitJob& e) const { return Submit(turn, e.record), nullptr; }
  Job* operator()(const CancelJob& e) const { return Cancel(turn, e.uid), nullptr; }
  Job* operator()(const PauseJob& e) const { return Pause(turn, e.uid), nullptr; }
  Job* operator()(const ResumeJob& e) const { return Resume(turn, e.uid, e.budget), nullptr; }
  Job* operator()(const DrainNode& e) const { return Drain(turn, e.node, e.within_seconds, e.reason), nullptr; }
  Job* operator()(const NodeReported& e) const { return AcceptNodeReport(turn, e.report), nullptr; }
  Job* operator()(const Tick&) const { return nullptr; }
  Job* operator()(const ClockSet& e) const { return turn.state.wall_offset = e.wall_offset, nullptr; }
  Job* operator()(const PricesSet& e) const {
    for (auto& [uid, job] : turn.state.jobs) {
      CountCosts(turn, job);  // So far at the old ones.
      job.shares.clear();
    }
    turn.state.prices = e.prices;
    return nullptr;
  }
  Job* operator()(const TrainerReported& e) const {
    const auto it = turn.state.jobs.find(e.report.job_uid());
    if (it == turn.state.jobs.end()) return nullptr;
    AcceptReport(turn, it->second, e.report);
    return &it->second;
  }
  Job* operator()(const Restored& e) const {
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
    return nullptr;
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
  Turn turn{*impl_, effects, now};
  Job* only = std::visit(Route{turn}, event);
  const bool report = std::holds_alternative<TrainerReported>(event);
  if (only != nullptr) {
    Advance(turn, *only);
  } else if (!report) {
    for (auto& [uid, job] : impl_->jobs) Advance(turn, job);
  }
  // Trainers report often, and seldom say anything that concerns nodes.
  const bool nodes_concerned = !report || impl_->any_lost || (only != nullptr && only->must_save);
  if (nodes_concerned || now >= impl_->watch_nodes_at) {
    impl_->watch_nodes_at = WatchNodes(turn);
    for (const std::string& uid : impl_->order) {
      SettlePrecision(turn, impl_->jobs.at(uid));
      SettleMicroBatch(turn, impl_->jobs.at(uid));
    }
    PlaceJobs(*impl_);
    ShareNodes(turn);
  }
  effects.wake_at = impl_->watch_nodes_at;
  for (const std::string& uid : impl_->order) {
    Job& job = impl_->jobs.at(uid);
    Collect(turn, job);
    effects.wake_at = std::min(effects.wake_at, job.wake_at);
  }
  for (auto& [name, node] : impl_->nodes) {
    if (node.must_save) effects.save_nodes.push_back(node.record);
    node.must_save = false;
  }
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
