#include "coordinator/core/cluster.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

#include "coordinator/core/account/spending.h"
#include "coordinator/core/advance.h"
#include "coordinator/core/charges/charged_nodes.h"
#include "coordinator/core/choices/micro_batch.h"
#include "coordinator/core/choices/precision.h"
#include "coordinator/core/generation/fence.h"
#include "coordinator/core/keeping/forgetting.h"
#include "coordinator/core/machines/directives.h"
#include "coordinator/core/machines/name_claims.h"
#include "coordinator/core/machines/registering.h"
#include "coordinator/core/nodes/node_list.h"
#include "coordinator/core/nodes/silent_nodes.h"
#include "coordinator/core/planning/planning.h"
#include "coordinator/core/record/found_jobs.h"
#include "coordinator/core/record/listening.h"
#include "coordinator/core/routes.h"
#include "coordinator/core/state/core_state.h"
#include "coordinator/core/state/refusal.h"
#include "coordinator/core/stopping/halting.h"
#include "coordinator/core/verbs.h"

namespace rekindle::core {
namespace {

constexpr double kSaveProgressSeconds = 1;
// Settle runs up to `kPlanRounds` planning cycles, so that slots which one job gives up at once can go to other jobs
// before Settle returns.
constexpr int kPlanRounds = 3;

// Returns whether the job has trainers on any node. If it has, an event that concerns the job may also show whether the
// node of one of its trainers lives.
bool HasTrainers(const Job& job) { return !job.trainers.empty() || job.record.membership().members_size() > 0; }

// Remembers for `Settle` which jobs and nodes the event concerns.
void Remember(State& state, const Event& event, const Concern& concern) {
  if (state.listening.on) return;
  Unsettled& unsettled = state.unsettled;
  unsettled.all = unsettled.all || concern.all;
  unsettled.watch = unsettled.watch || concern.nodes;
  unsettled.pools = unsettled.pools || std::holds_alternative<PoolReported>(event);
  if (const auto* report = std::get_if<NodeReported>(&event)) unsettled.nodes.insert(report->report.node());
  for (const Job* job : concern.jobs) unsettled.jobs.insert(job->record.job().uid());
}

// Lets each job that the events concern decide, once all of these events are known.
void AdvanceConcerned(Turn& turn) {
  State& state = turn.state;
  Unsettled& unsettled = state.unsettled;
  if (unsettled.all) {
    for (auto& [uid, job] : state.jobs) Advance(turn, job);
    return;
  }
  for (const std::string& uid : unsettled.jobs) {
    Job& job = state.jobs.at(uid);
    Advance(turn, job);
    CheckPlanned(turn, job);
    unsettled.watch = unsettled.watch || (job.must_save && HasTrainers(job));
  }
}

void Collect(Turn& turn, Job& job) {
  KeepStatusTrue(turn, job);
  if (job.status_changed || job.must_save) turn.effects.changed_jobs.push_back(job.record.job().uid());
  const bool due = job.status_changed && turn.now >= job.saved_at + kSaveProgressSeconds;
  if (job.must_save || due) {
    turn.effects.save_jobs.push_back(job.record);
    job.saved_at = turn.now;
    turn.ClearMarks(job);
  }
  if (job.status_changed) job.wake_at = std::min(job.wake_at, job.saved_at + kSaveProgressSeconds);
  // `jobs_wake_at` may still be an earlier time that no job needs any more. Then the jobs are looked at once in vain.
  turn.state.jobs_wake_at = std::min(turn.state.jobs_wake_at, job.wake_at);
}

void Collect(Turn& turn, NodeState& node) {
  if (turn.TakeSaveMark(node)) turn.effects.save_nodes.push_back(node.record);
}

void Collect(Turn& turn, PoolState& pool) {
  if (turn.TakeSaveMark(pool)) turn.effects.save_pools.push_back(RecordOf(pool));
}

// CollectAll collects the records that have to be saved, and the jobs that have changed. CollectSome looks only at the
// jobs, nodes and pools that the events concern.
void CollectAll(Turn& turn) {
  State& state = turn.state;
  state.jobs_wake_at = kNever;
  for (auto& [uid, job] : state.jobs) Collect(turn, job);
  for (auto& [name, node] : state.nodes) Collect(turn, node);
  for (auto& [name, pool] : state.pools) Collect(turn, pool);
}
void CollectSome(Turn& turn, const Unsettled& of) {
  for (const std::string& uid : of.jobs) Collect(turn, turn.state.jobs.at(uid));
  for (const std::string& name : of.nodes) {
    const auto node = turn.state.nodes.find(name);
    if (node != turn.state.nodes.end()) Collect(turn, node->second);
  }
  if (!of.pools) return;
  for (auto& [name, pool] : turn.state.pools) Collect(turn, pool);
}

// Runs planning cycles as long as one is due, at most kPlanRounds times. Returns whether one ran.
bool Plan(Turn& turn) {
  std::vector<Job*> again;
  bool planned = false;
  for (int i = 0; i < kPlanRounds && PlanJobs(turn, &again); ++i) {
    planned = true;
    for (Job* job : again) {
      Advance(turn, *job);
      CheckPlanned(turn, *job);
    }
    // The nodes are looked at now, because the planning cycle may have decided to release a node that is empty already,
    // and the agent of such a node may never send a report again.
    if (turn.now >= turn.state.watch_nodes_at) turn.state.watch_nodes_at = WatchNodes(turn);
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
  TakeEvent(event, now, &effects);
  Settle(now, &effects);
  return effects;
}

void Cluster::TakeEvent(const Event& event, double now, Effects* effects) {
  State& state = *impl_;
  if (state.listening.on && !std::holds_alternative<ListenedFirst>(event)) {
    effects->status = KeepForLater(state.listening, event);
    return;
  }
  if (!IsVerb(event)) {
    Turn turn{state, *effects, now};
    return Remember(state, event, RouteEvent(turn, event));
  }
  // A refused call has no effect but its status.
  Effects own;
  Turn turn{state, own, now};
  Before before(state, event);
  const Concern concern = RouteEvent(turn, event);
  if (!own.status.ok()) {
    before.PutBack(state);
    effects->status = own.status;
    return;
  }
  Remember(state, event, concern);
  std::move(own.events.begin(), own.events.end(), std::back_inserter(effects->events));
  std::move(own.leases.begin(), own.leases.end(), std::back_inserter(effects->leases));
  std::move(own.forget_jobs.begin(), own.forget_jobs.end(), std::back_inserter(effects->forget_jobs));
  std::move(own.changed_jobs.begin(), own.changed_jobs.end(), std::back_inserter(effects->changed_jobs));
}

void Cluster::Settle(double now, Effects* effects) {
  State& state = *impl_;
  if (state.listening.on) return;
  Turn turn{state, *effects, now};
  AdvanceConcerned(turn);
  const Unsettled of = std::exchange(state.unsettled, {});
  const bool forgets = now >= state.forget_at;
  const bool due = of.watch || now >= state.watch_nodes_at || forgets;
  if (due) {
    state.watch_nodes_at = WatchNodes(turn);
    for (const std::string& uid : state.order) {
      ResolvePrecision(turn, state.jobs.at(uid));
      ResolveMicroBatch(turn, state.jobs.at(uid));
    }
  }
  if (due || of.all) {
    for (auto& [uid, job] : state.jobs) CheckPlanned(turn, job);
  }
  if (due || of.all) RefreshSought(turn, now);
  const bool planned = Plan(turn);
  const bool all = due || planned || of.all;
  if (all) ShareNodes(turn);
  if (all) {
    RefreshSurroundings(state);
    if (forgets || HasTooManyOver(state)) {
      ForgetOld(turn);
      RefreshSurroundings(state);
    }
    CollectAll(turn);
  } else {
    CollectSome(turn, of);
  }
  effects->all_touched = effects->all_touched || all;
  effects->touched_jobs.insert(of.jobs.begin(), of.jobs.end());
  effects->wake_at = std::min({state.watch_nodes_at, state.jobs_wake_at, state.plan_at, state.forget_at});
}

v1::TrainerDirective Cluster::DirectiveForTrainer(const std::string& job_uid, const std::string& trainer,
                                                  int known_revision) const {
  const auto it = impl_->jobs.find(job_uid);
  return it == impl_->jobs.end() ? UnknownJobDirective(known_revision)
                                 : TrainerDirectiveFor(*impl_, it->second, trainer, known_revision);
}

v1::NodeDirective Cluster::DirectiveForNode(const std::string& node, int known_revision) const {
  return NodeDirectiveFor(*impl_, node, known_revision);
}

v1::NodeDirective Cluster::DirectiveForAgent(const std::string& node, const std::string& agent,
                                             int known_revision) const {
  const auto it = impl_->nodes.find(node);
  if (it == impl_->nodes.end() || MaySpeakFor(it->second, agent)) {
    return NodeDirectiveFor(*impl_, node, known_revision);
  }
  return DirectiveForClaim(it->second, agent, known_revision);
}

std::string Cluster::RivalOf(const std::string& node, const std::string& agent) const {
  const auto it = impl_->nodes.find(node);
  if (it == impl_->nodes.end() || !AwaitsDecision(it->second, agent)) return "";
  return it->second.record.agent_incarnation();
}

Cluster::Horizons Cluster::HorizonsOf(const std::string& name) const {
  const auto node = impl_->nodes.find(name);
  if (node == impl_->nodes.end()) return {.spend_until = kNever};
  return {AloneSeconds(*impl_, node->second.record.pool()), SpendUntil(*impl_, node->second)};
}

std::vector<std::string> Cluster::NodesOf(const std::set<std::string>& job_uids) const {
  std::vector<std::string> names;
  for (const auto& [name, node] : impl_->nodes) {
    const auto is_of = [&](const auto& slot) { return job_uids.count(slot.second) > 0; };
    if (std::any_of(node.slots.begin(), node.slots.end(), is_of)) names.push_back(name);
  }
  return names;
}

bool Cluster::IsListening() const { return impl_->listening.on; }

absl::Status Cluster::CheckSubmit(SubmitCheck what, const v1::JobRecord& record, double now) const {
  if (!impl_->listening.on) return core::CheckSubmit(*impl_, what, record, now + impl_->wall_offset);
  Listening nothing;
  // While the cluster only listens, every verb of a user is refused. KeepForLater returns the error, and puts nothing
  // into `nothing`, because it keeps no verbs.
  return KeepForLater(nothing, SubmitJob{record});
}

const v1::JobRecord* Cluster::FindJob(const std::string& name_or_uid) const {
  const auto by_uid = impl_->jobs.find(name_or_uid);
  if (by_uid != impl_->jobs.end()) return &by_uid->second.record;
  const auto by_name = impl_->newest.find(name_or_uid);
  const Job* newest = by_name == impl_->newest.end() ? nullptr : &impl_->jobs.at(by_name->second);
  if (newest != nullptr && !IsOver(*newest)) return &newest->record;
  if (const FoundJob* found = FindFound(*impl_, name_or_uid); found != nullptr) return &found->record;
  return newest == nullptr ? nullptr : &newest->record;
}

std::vector<const v1::JobRecord*> Cluster::Jobs() const {
  std::vector<const v1::JobRecord*> jobs;
  for (const std::string& uid : impl_->order) jobs.push_back(&impl_->jobs.at(uid).record);
  for (const auto& [uid, found] : impl_->found) jobs.push_back(&found.record);
  return jobs;
}

size_t Cluster::ActiveJobs() const {
  // The numbers of jobs in `surroundings` do not yet count the jobs that were just submitted. None of these is over.
  return impl_->surroundings.active + (impl_->order.size() - impl_->surroundings.jobs);
}

const PriceBook& Cluster::Prices() const { return impl_->prices; }

std::vector<v1::Node> Cluster::Nodes(double now, const std::string& after, size_t at_most) const {
  return ListNodes(*impl_, now, after, at_most);
}

std::optional<v1::Node> Cluster::FindNode(double now, const std::string& name) const {
  const auto node = impl_->nodes.find(name);
  if (node == impl_->nodes.end()) return std::nullopt;
  return ShowNode(*impl_, node->second, now);
}

}  // namespace rekindle::core
