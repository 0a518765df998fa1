#include "coordinator/core/cluster.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "coordinator/core/adoption.h"
#include "coordinator/core/charged_nodes.h"
#include "coordinator/core/costs.h"
#include "coordinator/core/directives.h"
#include "coordinator/core/draining.h"
#include "coordinator/core/fence.h"
#include "coordinator/core/forgetting.h"
#include "coordinator/core/found.h"
#include "coordinator/core/halting.h"
#include "coordinator/core/job_control.h"
#include "coordinator/core/listening.h"
#include "coordinator/core/looking.h"
#include "coordinator/core/micro_batch.h"
#include "coordinator/core/name_claims.h"
#include "coordinator/core/nodes.h"
#include "coordinator/core/planning.h"
#include "coordinator/core/pools.h"
#include "coordinator/core/precision.h"
#include "coordinator/core/progress.h"
#include "coordinator/core/refusal.h"
#include "coordinator/core/registering.h"
#include "coordinator/core/spending.h"
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
  std::vector<Job*> jobs;  // These alone ...
  bool all = false;        // ... or all of them.
  bool nodes = false;      // What is known of nodes has changed, or is to be looked at.
};
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
    for (Job* job : concern.jobs) SettleJob(turn, *job);
    return concern;
  }
  Concern operator()(const CancelJob& e) const { return Cancel(turn, e.uid, e.discard), Of(e.uid); }
  Concern operator()(const PauseJob& e) const { return Pause(turn, e.uid), Of(e.uid); }
  Concern operator()(const ResumeJob& e) const { return Resume(turn, e), Of(e.uid); }
  Concern operator()(const AdoptJob& e) const { return AdoptFound(turn, e.uid), TakeProcessesAgain(turn), All(); }
  Concern operator()(const ForgetJob& e) const { return ForgetAsAsked(turn, e.uid), All(); }
  Concern operator()(const NodeGone& e) const { return TakeGone(turn, e.node), All(); }
  Concern operator()(const LeaseChecked& e) const {
    Concern concern = Of(e.uid);
    for (Job* job : concern.jobs) TakeLease(turn, *job, e);
    return concern;
  }
  Concern operator()(const DrainNode& e) const { return Drain(turn, e.node, e.within_seconds, e.reason), All(); }
  Concern operator()(const UndrainNode& e) const { return Undrain(turn, e.node), All(); }
  // That a node lives concerns only jobs on it that do not train: whoever forms a membership waits for that.
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
  // All that was heard is there before anything of it decides: who lives, and in which generation.
  Concern operator()(const ListenedFirst& e) const {
    State& state = turn.state;
    state.epoch = e.epoch;
    state.started = turn.now;
    state.restarted = true;
    const std::vector<Event> kept = EndListening(state.listening);
    for (const Event& event : kept) std::visit(*this, event);
    for (auto& [uid, job] : state.jobs) {
      ForgetEnd(job);
      if (!IsBehind(job)) StartWaitingAnew(job);
      AskToLook(state, job);
    }
    return All();
  }
  // What passed while `now` stood still is charged: machines ran, and may have ended. A clock that is set costs
  // nothing.
  Concern operator()(const ClockSet& e) const {
    State& state = turn.state;
    const double step = e.wall_offset - state.wall_offset - e.stood_still;
    for (auto& [uid, job] : state.jobs) CountCosts(turn, job);
    state.wall_offset = e.wall_offset;
    for (auto& [uid, job] : state.jobs) {
      FollowClock(step, job);
      if (e.stood_still > 0 && MayBeCharged(job)) CountAbsence(turn, job);
    }
    for (auto& [name, pool] : state.pools) FollowClock(step, pool);
    return All();
  }
  // What they hold is counted and shown anew.
  void CountAll() const {
    for (auto& [uid, job] : turn.state.jobs) {
      CountCosts(turn, job);
      job.rate_is_old = true;
    }
  }
  Concern operator()(const PricesSet& e) const {
    CountAll();  // So far at the old ones.
    PriceBook prices = e.prices;
    KeepHeard(turn.state.prices, prices);
    turn.state.prices = std::move(prices);
    turn.state.plan_due = true;
    return All();
  }
  Concern operator()(const PriceHeard& e) const {
    if (!TakePrice(e, UnixNow(turn), turn.state.prices)) return Concern{};
    CountAll();
    turn.state.plan_due = true;
    return All();
  }
  Concern operator()(const CarbonSet& e) const {
    for (auto& [uid, job] : turn.state.jobs) CountCosts(turn, job);  // So far at what was known.
    turn.state.carbon = e.carbon;
    turn.state.plan_due = true;
    return All();
  }
  // Trainers report often, and seldom say anything that concerns nodes.
  Concern operator()(const TrainerReported& e) const {
    Concern concern = Of(e.report.job_uid());
    if (concern.jobs.empty()) return TakeFound(turn, e.report), concern;
    Job& job = *concern.jobs.front();
    AcceptReport(turn, job, e.report);
    concern.nodes = turn.state.any_lost && (IsLost(e.report.node()) || HasLostMember(job));
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
  void KeepSlot(const v1::JobRecord& job, const std::string& trainer) const {
    const auto node = turn.state.nodes.find(NodeOf(trainer));
    const std::string& uid = job.job().uid();
    if (node == turn.state.nodes.end() || IsOver(turn.state.jobs[uid]) || SlotOf(trainer) < 0) return;
    if (!node->second.record.drained_agent().empty()) return;  // It was sent home, and serves nobody.
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
      // The slots of members, and of those that wait to be, are taken, whoever reports first.
      const Job& adopted = state.jobs[job.job().uid()];
      for (const v1::Member& member : job.membership().members()) {
        const Trainer* trainer = FindTrainer(adopted, member.trainer());
        if (IsFinishing(adopted) && trainer != nullptr && !trainer->death.empty()) continue;  // It was not needed.
        KeepSlot(job, member.trainer());
      }
      for (const v1::JobRecord::Identity& one : job.identities()) KeepSlot(job, AnyTrainerOf(one.slot()));
    }
    return All();
  }
};

// Has it trainers of any node? Whether that one lives may hang on what the job has just learned.
bool HasTrainers(const Job& job) { return !job.trainers.empty() || job.record.membership().members_size() > 0; }

// Remembers for Settle whom the event concerns.
void Remember(State& state, const Event& event, const Concern& concern) {
  if (state.listening.on) return;
  Unsettled& unsettled = state.unsettled;
  unsettled.all = unsettled.all || concern.all;
  unsettled.watch = unsettled.watch || concern.nodes;
  unsettled.pools = unsettled.pools || std::holds_alternative<PoolReported>(event);
  if (const auto* report = std::get_if<NodeReported>(&event)) unsettled.nodes.insert(report->report.node());
  for (const Job* job : concern.jobs) unsettled.jobs.insert(job->record.job().uid());
}

// Each job that was concerned decides, with all that was heard before it.
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
    CheckPlanned(state, job);
    unsettled.watch = unsettled.watch || (job.must_save && HasTrainers(job));
  }
}

void Collect(Turn& turn, Job& job) {
  KeepStatusTrue(job);
  if (job.status_changed || job.must_save) turn.effects.changed_jobs.push_back(job.record.job().uid());
  const bool due = job.status_changed && turn.now >= job.saved_at + kSaveProgressSeconds;
  if (job.must_save || due) {
    turn.effects.save_jobs.push_back(job.record);
    job.saved_at = turn.now;
    job.must_save = false;
    job.status_changed = false;
  }
  if (job.status_changed) job.wake_at = std::min(job.wake_at, job.saved_at + kSaveProgressSeconds);
  turn.state.jobs_wake_at = std::min(turn.state.jobs_wake_at, job.wake_at);  // Of an earlier look at the latest.
}

void Collect(Turn& turn, NodeState& node) {
  if (node.must_save) turn.effects.save_nodes.push_back(node.record);
  node.must_save = false;
}

void Collect(Turn& turn, PoolState& pool) {
  if (std::exchange(pool.must_save, false)) turn.effects.save_pools.push_back(RecordOf(pool));
}

// What to save and to tell: of everything, or of those that events concerned.
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
    // Nothing may be left on a node that the cycle has sent home, and its agent may never speak again.
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
  Take(event, now, &effects);
  Settle(now, &effects);
  return effects;
}

void Cluster::Take(const Event& event, double now, Effects* effects) {
  State& state = *impl_;
  if (state.listening.on && !std::holds_alternative<ListenedFirst>(event)) {
    effects->status = KeepForLater(state.listening, event);
    return;
  }
  if (!IsVerb(event)) {
    Turn turn{state, *effects, now};
    return Remember(state, event, std::visit(Route{turn}, event));
  }
  Effects own;  // Nothing of a refused call is told but its status.
  Turn turn{state, own, now};
  Before before(state, event);
  const Concern concern = std::visit(Route{turn}, event);
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
    for (const std::string& uid : state.order) SettleJob(turn, state.jobs.at(uid));
  }
  if (due || of.all) {
    for (auto& [uid, job] : state.jobs) CheckPlanned(state, job);
  }
  if (due || of.all) RefreshSought(state, now);
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
  return KeepForLater(nothing, SubmitJob{record});  // The words in which the verb is refused then; nothing is kept.
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
  return impl_->surroundings.active + (impl_->order.size() - impl_->surroundings.jobs);  // And those just submitted.
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
