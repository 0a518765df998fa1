#include "coordinator/core/planning.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string_view>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "coordinator/core/claims.h"
#include "coordinator/core/emissions.h"
#include "coordinator/core/first_epoch.h"
#include "coordinator/core/giving.h"
#include "coordinator/core/goals.h"
#include "coordinator/core/halting.h"
#include "coordinator/core/placement.h"
#include "coordinator/core/plan_view.h"
#include "coordinator/core/pools.h"
#include "coordinator/core/text.h"
#include "coordinator/core/units.h"

namespace rekindle::core {
namespace {

// A cycle looks at every job and node: it may take so much of the time at most.
constexpr double kSecondsEach = 1e-5;
constexpr size_t kFew = 500;
constexpr char kHoursHaveCome[] = "its hours have come";
constexpr char kMoved[] = "the first epoch is over, and nodes with GPUs are ready";

JobFacts FactsOf(const State& state, const Job& job) {
  JobFacts facts;
  facts.wants = !IsOver(job);
  if (!facts.wants) return facts;
  facts.runs = job.record.membership().members_size() > 0;
  facts.released = job.record.released();
  facts.paused = IsHeldBack(job);
  facts.halted = !job.record.halt().empty();
  facts.min = MinWorkers(job);
  facts.max = MaxWorkers(job);
  facts.room = std::min(job.budget_room, facts.max);
  facts.first_epoch = PhaseOfFirstEpoch(state, job);
  if (!job.units.empty() || IsFinishing(job)) {
    facts.working = IsStepping(job) ? job.record.membership().members_size() : 0;
    for (const auto& [id, trainer] : job.trainers) {
      facts.arrived += trainer.death.empty() && trainer.report.phase() == v1::TRAINER_READY;
    }
  }
  if (!job.giving.empty()) {  // What it gives is free once its members have left.
    facts.generation = job.record.membership().generation();
    facts.deaths = job.record.deaths_size();
  }
  return facts;
}

NodeFacts FactsOf(const NodeState& node) {
  return {.usable = node.reported && !node.lost && !node.record.draining() && node.error.empty(),
          .hinted = !node.record.hint().empty(),
          .slots = node.reported ? node.report.slots() : 0,
          .charged_as = node.charged_as,
          .device = node.device};
}

std::string Describe(const Job& job) {
  return absl::StrCat("job ", job.record.job().name(), " of priority ", SpecOf(job).priority());
}

std::string Nodes(int count) { return absl::StrCat(count, count == 1 ? " node" : " nodes"); }

// One cycle's decisions about what jobs hold already.
class Cycle {
 public:
  explicit Cycle(Turn& turn)
      : turn_(turn), view_(MakePlanView(turn)), plans_(scheduler::PlanCycle(view_.fleet, view_.demands)) {}

  std::vector<Job*> Run() {
    why_.resize(view_.groups.size());
    StopInCircles();
    for (size_t j = 0; j < view_.jobs.size(); ++j) Follow(j);
    std::vector<int> missing = PlaceSlots(view_, plans_);
    for (size_t j = 0; j < view_.jobs.size(); ++j) {
      if (view_.jobs[j].placed) again_.insert(j);  // Who waits for workers counts on slots.
    }
    const std::vector<int> leaving = CountLeaving(view_);
    for (size_t j = 0; j < view_.jobs.size(); ++j) Leave(j, leaving);
    for (size_t g = 0; g < leaving.size(); ++g) missing[g] = std::max(0, missing[g] - leaving[g]);
    double& at = turn_.state.plan_at;
    at = std::min({at, view_.look_at, OrderPools(turn_, view_, missing, why_)});
    for (size_t j = 0; j < view_.jobs.size(); ++j) {  // Also those that have nothing yet, and wait.
      const Job& job = *view_.jobs[j].job;
      const bool wants = view_.demands[j].view != nullptr && view_.demands[j].demand.min > 0;
      if (IsTimely(job) && (wants || !job.units.empty())) {
        at = std::min(at, turn_.now + turn_.state.tunables.planning_seconds);
      }
    }
    std::vector<Job*> again;
    for (const size_t j : again_) again.push_back(view_.jobs[j].job);
    return again;
  }

 private:
  // A gang works on until it has moved to another pool: all of what it has is kept meanwhile. Where gangs would move to
  // slots that others of them keep, nobody would ever move: the lowest that jobs above drive out stops, until the
  // others can.
  void StopInCircles() {
    std::vector<size_t> movers;
    // Slots of each pool that takes orders are counted, there or not, beside those that are kept or allotted.
    std::vector<int> room;
    for (size_t g = 0; g < view_.ordered.size(); ++g) room.push_back(view_.fleet.pools[g].slots);
    for (size_t j = 0; j < view_.jobs.size(); ++j) {
      const bool moves = Moves(j);
      if (moves) movers.push_back(j);
      for (size_t g = 0; g < room.size(); ++g) room[g] -= moves ? Has(j, g) : AllottedIn(j, g);
    }
    const auto take_out = [&](size_t j, bool allotted) {
      for (size_t g = 0; g < room.size(); ++g) room[g] += Has(j, g) - (allotted ? AllottedIn(j, g) : 0);
      movers.erase(std::find(movers.begin(), movers.end(), j));
    };
    while (!movers.empty()) {
      const auto fits = [&](size_t j) {
        bool all = true;
        for (size_t g = 0; g < room.size(); ++g) all = all && AllottedIn(j, g) - Has(j, g) <= std::max(0, room[g]);
        return all;
      };
      if (const auto at = std::find_if(movers.begin(), movers.end(), fits); at != movers.end()) {
        take_out(*at, true);
        continue;
      }
      const auto lowest = std::min_element(movers.begin(), movers.end(), [&](size_t a, size_t b) {
        const auto rank = [&](size_t j) {  // Who was submitted last goes first.
          return std::tuple(plans_[j].allotment.taken_by == scheduler::kNone, view_.demands[j].demand.priority,
                            -static_cast<int>(j));
        };
        return rank(a) < rank(b);
      });
      const size_t j = *lowest;
      if (plans_[j].allotment.taken_by == scheduler::kNone) return;
      take_out(j, false);
      view_.jobs[j].circles = true;
      plans_[j].allotment.slots.clear();
      plans_[j].units.clear();
      plans_[j].actions.clear();
    }
  }
  // A gang that is to leave slots of ordered pools for others.
  bool Moves(size_t j) const {
    const JobSlots& slots = view_.jobs[j];
    if (!slots.runs || plans_[j].allotment.slots.empty() || MinWorkers(*slots.job) != MaxWorkers(*slots.job))
      return false;
    bool leaves = false;
    for (size_t g = 0; g < view_.ordered.size(); ++g) leaves = leaves || Has(j, g) > AllottedIn(j, g);
    return leaves;
  }
  int Has(size_t j, size_t group) const { return static_cast<int>(view_.jobs[j].held[group].size()); }
  int AllottedIn(size_t j, size_t group) const {
    for (const scheduler::Slots& s : plans_[j].allotment.slots) {
      if (static_cast<size_t>(s.pool) == group) return s.count;
    }
    return 0;
  }

  void Follow(size_t j) {
    Job& job = *view_.jobs[j].job;
    view_.jobs[j].before = job.giving;
    if (IsFinishing(job)) return Give(j);
    if (view_.jobs[j].moved) TellMoved(turn_, job);
    TellIfBlind(turn_, job);
    const scheduler::Allotment& allotment = plans_[j].allotment;
    const int slots = scheduler::CountSlots(allotment.slots);
    int held = 0;
    for (const auto& in_group : view_.jobs[j].held) held += static_cast<int>(in_group.size());
    Learn(j);
    const std::string& hours = plans_[j].waits;
    const std::string waits_for = allotment.wait == scheduler::Wait::kQuota ? DescribeQuota(job) : hours;
    if (std::exchange(job.waits_for, waits_for) != waits_for) again_.insert(j);
    const bool waited = job.waits_for_hours;
    job.waits_for_hours = !hours.empty() || (waited && job.units.empty());
    if (!hours.empty() && !waited && held == 0 && job.record.halt().empty()) turn_.Emit(&job, "waiting", hours);
    if (!view_.jobs[j].off_peak.empty() && !IsHeldBack(job)) {
      Halt(turn_, job, "off_peak", view_.jobs[j].off_peak);
      job.giving.clear();
      again_.insert(j);
      return;
    }
    const bool may_run = slots >= MinWorkers(job);
    const bool lives = view_.jobs[j].runs;
    if (!may_run && !(held > 0 && lives)) SayWhatHaltWaitsFor(j, waited, hours);
    if (may_run && !job.record.halt().empty()) {
      const bool for_hours = waited || !SpecOf(job).goals().off_peak().empty();
      const char* why = for_hours ? kHoursHaveCome : "there is room again";
      Unhalt(turn_, job, absl::StrCat(held > 0 && lives ? "goes on where it is after all: " : "", why));
      again_.insert(j);
    }
    view_.jobs[j].leaves = !may_run && held > 0 && lives && allotment.taken_by != scheduler::kNone;
    if (view_.jobs[j].leaves) return;
    if (slots == 0 && held > 0 && lives && !job.moves_because.empty()) {
      Halt(turn_, job, "waiting", job.moves_because);
      job.giving.clear();
      again_.insert(j);
    }
    if (!job.record.halt().empty()) return;
    Give(j);
  }

  // One that stopped for hours, or for another job, may wait for something else by now.
  void SayWhatHaltWaitsFor(size_t j, bool waited, const std::string& hours) {
    Job& job = *view_.jobs[j].job;
    const bool come = hours.empty() && (waited || IsForHours(job));
    if (job.record.halt().empty() || (hours.empty() && !come)) return;
    const std::string why = come ? absl::StrCat(kHoursHaveCome, kWaitsFor, Nodes(MinWorkers(job))) : hours;
    if (job.record.halt() == why) return;
    Halt(turn_, job, "waiting", why);
    again_.insert(j);
  }

  // What its planner decided becomes its units.
  void Learn(size_t j) {
    Job& job = *view_.jobs[j].job;
    if (view_.demands[j].view == nullptr) return;
    for (const scheduler::Action& action : plans_[j].actions) {
      job.moves_because = action.reason;
      if (action.pool == scheduler::kNone || !why_[action.pool].empty()) continue;
      why_[action.pool] = absl::StrCat("job ", job.record.job().name(), ": ", action.reason);
    }
    job.view.starts +=
        static_cast<int>(std::count_if(plans_[j].actions.begin(), plans_[j].actions.end(),
                                       [](const scheduler::Action& a) { return a.pool != scheduler::kNone; }));
    KeepTheRest(view_, view_.jobs[j], plans_[j]);
    TakeUnits(turn_, job, plans_[j], view_.pool_names, job.view.unit_nodes);
  }

  std::string DescribeQuota(const Job& job) const {
    const std::string& team = SpecOf(job).team();
    const auto known = turn_.state.prices.teams.find(team);
    if (known == turn_.state.prices.teams.end()) return "";
    return absl::StrCat("team ", team, " may have ", known->second.max_nodes, " nodes at once");
  }

  std::string WhyTaken(const Job& job, const scheduler::Allotment& allotment) const {
    if (allotment.taken_by == scheduler::kNone) {
      return job.moves_because.empty() ? "it is more than the job may have" : job.moves_because;
    }
    return absl::StrCat(Describe(*view_.jobs[allotment.taken_by].job), " needs it (has ", SpecOf(job).priority(), ")");
  }

  // A job that goes on because the one above it cannot run yet does not need what is below it either. The one above has
  // a higher priority or is older, so this ends.
  bool MustLeaveNow(size_t j, const std::vector<int>& leaving) const {
    const int above = plans_[j].allotment.taken_by;
    if (above == scheduler::kNone) return true;
    if (view_.jobs[above].circles) return false;  // It stops itself, and is allotted slots anew then.
    if (!CanTake(view_.jobs[above], view_.jobs[j], leaving)) return false;
    return !view_.jobs[above].runs || MustLeaveNow(above, leaving);
  }

  // What jobs above take is left once these can run with it.
  void Leave(size_t j, const std::vector<int>& leaving) {
    JobSlots& slots = view_.jobs[j];
    Job& job = *slots.job;
    const int above = plans_[j].allotment.taken_by;
    const bool can = MustLeaveNow(j, leaving);
    const bool stops = !job.record.halt().empty();
    if (slots.leaves && (can || stops)) {
      StopWhole(job, *view_.jobs[above].job);
      again_.insert(j);
    }
    if (slots.leaves || stops) return;
    if (!can) PutOff(slots);
    if (job.giving != slots.before) again_.insert(j);
    TellKept(turn_, slots);
    const std::vector<std::string> news = NewlyGiven(slots);
    if (news.empty() || slots.moved) return;  // TellMoved did.
    turn_.Emit(
        &job, "preempted",
        absl::StrCat("gives up ", JoinWords(news), " at the next step boundary: ", WhyTaken(job, plans_[j].allotment)));
  }

  void StopWhole(Job& job, const Job& above) {
    const std::string who =
        SpecOf(above).priority() == SpecOf(job).priority()
            ? absl::StrCat("both lacked nodes, and job ", above.record.job().name(), " was submitted first")
            : absl::StrCat("preempted by ", Describe(above), " (has ", SpecOf(job).priority(), ")");
    Halt(turn_, job, "preempted", absl::StrCat(who, kWaitsFor, Nodes(MinWorkers(job))));
    job.giving.clear();
  }

  // What it has beyond its allotment goes: at a step boundary where members of it live.
  void Give(size_t j) {
    JobSlots& slots = view_.jobs[j];
    Job& job = *slots.job;
    job.giving.clear();
    for (size_t g = 0; g < slots.held.size(); ++g) {
      const auto surplus = static_cast<int>(slots.held[g].size()) - AllottedOf(j, static_cast<int>(g));
      if (surplus <= 0) continue;
      for (const SlotAt& at : ToGive(job, slots.held[g], slots.before, surplus)) {
        if (GiveSlot(job, at, WhyGiven(j, at))) continue;
        view_.groups[g].free.push_back(at);
        slots.placed = true;
      }
    }
    GiveAside(j);
  }

  // It was decided once, of whoever took it: from then on the slot is no part of what the job may have.
  std::string WhyGiven(size_t j, const SlotAt& at) const {
    const JobSlots& slots = view_.jobs[j];
    if (slots.moved) return kMoved;
    const auto told = slots.before.find(NameOf(at));
    if (told != slots.before.end() && plans_[j].allotment.taken_by == scheduler::kNone) return told->second;
    return WhyTaken(*slots.job, plans_[j].allotment);
  }

  // Nodes that may be taken soon are kept until as many others have arrived.
  void GiveAside(size_t j) {
    JobSlots& slots = view_.jobs[j];
    if (slots.aside.empty()) return;
    int missing = scheduler::CountSlots(plans_[j].allotment.slots);
    for (const auto& held : slots.held) {
      for (const SlotAt& at : held) missing -= HasArrived(turn_, *slots.job, at);
    }
    for (size_t i = std::max(0, missing); i < slots.aside.size(); ++i) {
      if (!GiveSlot(*slots.job, slots.aside[i], slots.aside[i].node->record.hint())) slots.placed = true;
    }
  }

  // Empty: of nodes that name none, and come by themselves.
  const std::string& Pool(int group) const { return view_.groups[group].pool; }

  // With what it keeps there until it has moved.
  int AllottedOf(size_t j, int group) const {
    const std::vector<Unit>& units = view_.jobs[j].job->units;
    const auto kept = std::count_if(units.begin(), units.end(),
                                    [&](const Unit& u) { return !u.leaving.empty() && u.leaving == Pool(group); });
    return AllottedIn(j, static_cast<size_t>(group)) + static_cast<int>(kept);
  }

  Turn& turn_;
  PlanView view_;
  std::vector<scheduler::JobPlan> plans_;
  std::set<size_t> again_;        // Jobs, in order of submission: where they lie in memory must decide nothing.
  std::vector<std::string> why_;  // More is ordered, by group.
};

}  // namespace

void CheckPlanned(State& state, Job& job) {
  if (FactsOf(state, job) != job.planned_as) state.plan_due = true;
}

void CheckPlanned(State& state, NodeState& node) {
  if (FactsOf(node) != node.planned_as) state.plan_due = true;
}

bool PlanJobs(Turn& turn, std::vector<Job*>* again) {
  State& state = turn.state;
  if (!state.plan_due && turn.now < state.plan_at) return false;
  const size_t size = state.jobs.size() + state.nodes.size();
  const double earliest = state.planned_at + (size > kFew ? static_cast<double>(size) * kSecondsEach : 0);
  if (turn.now < earliest) {
    state.plan_at = std::min(state.plan_at, earliest);
    return false;
  }
  state.planned_at = turn.now;
  state.plan_at = std::min(WatchPools(turn), WatchCarbon(turn));
  state.plan_due = false;
  FreeSlots(state);
  *again = Cycle(turn).Run();
  for (auto& [uid, job] : state.jobs) job.planned_as = FactsOf(state, job);
  for (auto& [name, node] : state.nodes) node.planned_as = FactsOf(node);
  return true;
}

}  // namespace rekindle::core
