#include "coordinator/core/planning/planning_cycle.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "coordinator/core/account/emissions.h"
#include "coordinator/core/choices/first_epoch.h"
#include "coordinator/core/choices/own_models.h"
#include "coordinator/core/planning/claims.h"
#include "coordinator/core/planning/gang_circles.h"
#include "coordinator/core/planning/goals.h"
#include "coordinator/core/planning/plan_view.h"
#include "coordinator/core/planning/plan_view_maker.h"
#include "coordinator/core/planning/pools.h"
#include "coordinator/core/planning/released_slots.h"
#include "coordinator/core/planning/slot_placement.h"
#include "coordinator/core/planning/units.h"
#include "coordinator/core/state/text.h"
#include "coordinator/core/stopping/halting.h"

namespace rekindle::core {
namespace {

constexpr char kHoursHaveCome[] = "its hours have come";
constexpr char kMoved[] = "the first epoch is over, and nodes with GPUs are ready";

std::string Describe(const Job& job) {
  return absl::StrCat("job ", job.record.job().name(), " of priority ", SpecOf(job).priority());
}

std::string Nodes(int count) { return absl::StrCat(count, count == 1 ? " node" : " nodes"); }

// A Cycle runs one planning cycle: it decides once what jobs have from now on, given what they hold already.
class Cycle {
 public:
  explicit Cycle(Turn& turn)
      : turn_(turn), view_(MakePlanView(turn)), plans_(scheduler::PlanCycle(view_.fleet, view_.demands)) {}

  std::vector<Job*> Run() {
    why_.resize(view_.groups.size());
    StopInCircles(view_, plans_);
    for (size_t j = 0; j < view_.jobs.size(); ++j) Follow(j);
    std::vector<int> missing = PlaceSlots(view_, plans_);
    for (size_t j = 0; j < view_.jobs.size(); ++j) {
      // A job that waits for workers counts its slots, so it is looked at again when they have changed.
      if (view_.jobs[j].placed) again_.insert(j);
    }
    const std::vector<int> leaving = CountLeaving(view_);
    for (size_t j = 0; j < view_.jobs.size(); ++j) Leave(j, leaving);
    for (size_t g = 0; g < leaving.size(); ++g) missing[g] = std::max(0, missing[g] - leaving[g]);
    double& at = turn_.state.plan_at;
    at = std::min({at, view_.look_at, OrderPools(turn_, view_, missing, why_)});
    for (size_t j = 0; j < view_.jobs.size(); ++j) {
      // A job whose plan may change as time passes is planned again within `planning_seconds`, also while it waits for
      // its first units.
      const Job& job = *view_.jobs[j].job;
      const bool wants = view_.demands[j].view != nullptr && view_.demands[j].demand.min > 0;
      if (IsTimely(job) && (wants || !job.wishes.units.empty())) {
        at = std::min(at, turn_.now + turn_.state.tunables.planning_seconds);
      }
    }
    std::vector<Job*> again;
    for (const size_t j : again_) again.push_back(view_.jobs[j].job);
    return again;
  }

 private:
  // Returns what the job waits for beside its workers, or an empty string. `hours` says which hours it waits for.
  std::string WhatItWaitsFor(const Job& job, scheduler::Wait wait, const std::string& hours) const {
    if (wait == scheduler::Wait::kQuota) return DescribeQuota(job);
    const bool lacks = hours.empty() && wait == scheduler::Wait::kCapacity;
    return lacks ? DescribeUnable(turn_.state, SpecOf(job)) : hours;
  }

  void Follow(size_t j) {
    Job& job = *view_.jobs[j].job;
    view_.jobs[j].before = job.giving_up;
    if (IsFinishing(job)) return Give(j);
    if (view_.jobs[j].moved) TellMoved(turn_, job);
    TellIfBlind(turn_, job);
    const scheduler::Allotment& allotment = plans_[j].allotment;
    const int slots = scheduler::CountSlots(allotment.slots);
    int held = 0;
    for (const auto& in_group : view_.jobs[j].held) held += static_cast<int>(in_group.size());
    Learn(j);
    const std::string& hours = plans_[j].waits;
    const std::string waits_for = WhatItWaitsFor(job, allotment.wait, hours);
    if (std::exchange(job.wishes.waits_for, waits_for) != waits_for) again_.insert(j);
    const bool waited = job.wishes.waits_for_hours;
    job.wishes.waits_for_hours = !hours.empty() || (waited && job.wishes.units.empty());
    if (!hours.empty() && !waited && held == 0 && job.record.halt().empty()) turn_.Emit(&job, "waiting", hours);
    if (!view_.jobs[j].off_peak.empty() && !IsHeldBack(job)) {
      Halt(turn_, job, HaltKind::kOffPeak, view_.jobs[j].off_peak);
      job.giving_up.clear();
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
    if (slots == 0 && held > 0 && lives && !job.wishes.moves_because.empty()) {
      Halt(turn_, job, HaltKind::kWaiting, job.wishes.moves_because);
      job.giving_up.clear();
      again_.insert(j);
    }
    if (!job.record.halt().empty()) return;
    Give(j);
  }

  // Shows what a halted job waits for. A job that stopped for its off-peak hours, or for another job, may wait for
  // something else by now.
  void SayWhatHaltWaitsFor(size_t j, bool waited, const std::string& hours) {
    Job& job = *view_.jobs[j].job;
    const bool come = hours.empty() && (waited || IsForHours(job));
    if (job.record.halt().empty() || (hours.empty() && !come)) return;
    const std::string why = come ? absl::StrCat(kHoursHaveCome, kWaitsFor, Nodes(MinWorkers(job))) : hours;
    if (job.record.halt() == why) return;
    Halt(turn_, job, HaltKind::kWaiting, why);
    again_.insert(j);
  }

  // Sets the job's units to what its planner has decided.
  void Learn(size_t j) {
    Job& job = *view_.jobs[j].job;
    if (view_.demands[j].view == nullptr) return;
    for (const scheduler::Action& action : plans_[j].actions) {
      job.wishes.moves_because = action.reason;
      if (action.pool == scheduler::kNone || !why_[action.pool].empty()) continue;
      why_[action.pool] = absl::StrCat("job ", job.record.job().name(), ": ", action.reason);
    }
    job.wishes.view.starts +=
        static_cast<int>(std::count_if(plans_[j].actions.begin(), plans_[j].actions.end(),
                                       [](const scheduler::Action& a) { return a.pool != scheduler::kNone; }));
    KeepTheRest(view_, view_.jobs[j], plans_[j]);
    TakeUnits(turn_, job, plans_[j], view_.pool_names, job.wishes.view.unit_nodes);
  }

  std::string DescribeQuota(const Job& job) const {
    const std::string& team = SpecOf(job).team();
    const auto known = turn_.state.prices.teams.find(team);
    if (known == turn_.state.prices.teams.end()) return "";
    return absl::StrCat("team ", team, " may have ", known->second.max_nodes, " nodes at once");
  }

  std::string WhyTaken(const Job& job, const scheduler::Allotment& allotment) const {
    if (allotment.taken_by == scheduler::kNone) {
      return job.wishes.moves_because.empty() ? "it is more than the job may have" : job.wishes.moves_because;
    }
    return absl::StrCat(Describe(*view_.jobs[allotment.taken_by].job), " needs it (has ", SpecOf(job).priority(), ")");
  }

  // Returns whether a job has to leave its slots now for the job above it, which takes them. It need not while the job
  // above works on slots of its own that it does not have to leave yet either. The job above has a higher priority or
  // is older, so the recursion ends.
  bool MustLeaveNow(size_t j, const std::vector<int>& leaving) const {
    const int above = plans_[j].allotment.taken_by;
    if (above == scheduler::kNone) return true;
    // The job that is to take the slots is itself stopped in this cycle, so that gangs do not wait for each other. So
    // it does not take the slots now.
    if (view_.jobs[above].circles) return false;
    if (!CanTake(view_.jobs[above], view_.jobs[j], leaving)) return false;
    return !view_.jobs[above].runs || MustLeaveNow(above, leaving);
  }

  // Lets the job leave the slots that jobs above it take, once these jobs can run with them.
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
    if (job.giving_up != slots.before) again_.insert(j);
    TellKept(turn_, slots);
    const std::vector<std::string> news = NewlyGiven(slots);
    // Where the job moves to another kind of device, TellMoved has emitted an event already that says why slots are
    // given up.
    if (news.empty() || slots.moved) return;
    turn_.Emit(
        &job, "preempted",
        absl::StrCat("gives up ", JoinWords(news), " at the next step boundary: ", WhyTaken(job, plans_[j].allotment)));
  }

  void StopWhole(Job& job, const Job& above) {
    const std::string who =
        SpecOf(above).priority() == SpecOf(job).priority()
            ? absl::StrCat("both lacked nodes, and job ", above.record.job().name(), " was submitted first")
            : absl::StrCat("preempted by ", Describe(above), " (has ", SpecOf(job).priority(), ")");
    Halt(turn_, job, HaltKind::kPreempted, absl::StrCat(who, kWaitsFor, Nodes(MinWorkers(job))));
    job.giving_up.clear();
  }

  // Gives up the slots that the job has beyond its allotment. A slot in which a member lives is given up at a step
  // boundary.
  void Give(size_t j) {
    JobSlots& slots = view_.jobs[j];
    Job& job = *slots.job;
    job.giving_up.clear();
    for (size_t g = 0; g < slots.held.size(); ++g) {
      const auto surplus = static_cast<int>(slots.held[g].size()) - AllottedOf(j, static_cast<int>(g));
      if (surplus <= 0) continue;
      for (const SlotAt& at : ToGive(job, slots.held[g], slots.before, surplus)) {
        if (GiveSlot(job, at, WhyGiven(j, at))) continue;
        view_.groups[g].free.push_back(at);
        slots.placed = true;
      }
    }
    GiveUpAtRisk(j);
  }

  // Returns why the job gives a slot up. Only the cycle in which another job takes the slot knows that reason. Later
  // cycles do not allot the slot to the job any more, so they repeat the earlier reason.
  std::string WhyGiven(size_t j, const SlotAt& at) const {
    const JobSlots& slots = view_.jobs[j];
    if (slots.moved) return kMoved;
    const auto told = slots.before.find(NameOf(at));
    if (told != slots.before.end() && plans_[j].allotment.taken_by == scheduler::kNone) return told->second;
    return WhyTaken(*slots.job, plans_[j].allotment);
  }

  // Gives up slots on nodes that may be taken soon, but not before trainers in as many other slots have arrived.
  void GiveUpAtRisk(size_t j) {
    JobSlots& slots = view_.jobs[j];
    if (slots.at_risk.empty()) return;
    int missing = scheduler::CountSlots(plans_[j].allotment.slots);
    for (const auto& held : slots.held) {
      for (const SlotAt& at : held) missing -= HasArrived(turn_, *slots.job, at);
    }
    for (size_t i = std::max(0, missing); i < slots.at_risk.size(); ++i) {
      if (!GiveSlot(*slots.job, slots.at_risk[i], slots.at_risk[i].node->record.hint())) slots.placed = true;
    }
  }

  // Returns the name of a group's pool. It is empty for nodes that name no pool and that nobody orders.
  const std::string& Pool(int group) const { return view_.groups[group].pool; }

  // Returns how many slots the job is allotted in a group, including those that it keeps there until it has moved.
  int AllottedOf(size_t j, int group) const {
    const std::vector<Unit>& units = view_.jobs[j].job->wishes.units;
    const auto kept = std::count_if(units.begin(), units.end(),
                                    [&](const Unit& u) { return !u.leaving.empty() && u.leaving == Pool(group); });
    return AllottedIn(plans_[j], static_cast<size_t>(group)) + static_cast<int>(kept);
  }

  Turn& turn_;
  PlanView view_;
  std::vector<scheduler::JobPlan> plans_;
  // `again_` holds the jobs that have to be looked at again, as indices in order of submission, because the addresses
  // of jobs in memory must decide nothing.
  std::set<size_t> again_;
  // `why_` says for each group why more nodes are ordered.
  std::vector<std::string> why_;
};

}  // namespace

std::vector<Job*> RunCycle(Turn& turn) { return Cycle(turn).Run(); }

}  // namespace rekindle::core
