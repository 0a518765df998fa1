#include "coordinator/core/planning.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "coordinator/core/halting.h"
#include "coordinator/core/placement.h"
#include "coordinator/core/plan_view.h"
#include "coordinator/core/text.h"

namespace rekindle::core {
namespace {

// A cycle looks at every job and node: it may take so much of the time at most.
constexpr double kSecondsEach = 5e-6;
constexpr size_t kFew = 500;

JobFacts FactsOf(const Job& job) {
  JobFacts facts;
  facts.wants = !IsOver(job);
  if (!facts.wants) return facts;
  facts.runs = job.record.membership().members_size() > 0;
  facts.released = job.record.released();
  facts.paused = job.record.want_paused();
  facts.halted = !job.record.halt().empty();
  facts.min = MinWorkers(job);
  facts.max = MaxWorkers(job);
  if (!job.giving.empty()) {  // What it gives is free once its members have left.
    facts.generation = job.record.membership().generation();
    facts.deaths = job.record.deaths_size();
  }
  return facts;
}

NodeFacts FactsOf(const NodeState& node) {
  NodeFacts facts;
  facts.usable = node.reported && !node.lost && !node.record.draining() && node.error.empty();
  facts.hinted = !node.record.hint().empty();
  facts.slots = node.reported ? node.report.slots() : 0;
  facts.pool = node.record.pool();
  return facts;
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
    for (size_t j = 0; j < view_.jobs.size(); ++j) Follow(j);
    PlaceSlots(view_, plans_);
    return {again_.begin(), again_.end()};
  }

 private:
  void Follow(size_t j) {
    Job& job = *view_.jobs[j].job;
    const scheduler::Allotment& allotment = plans_[j].allotment;
    const int slots = scheduler::CountSlots(allotment.slots);
    const int held = scheduler::CountSlots(view_.demands[j].demand.held);
    const std::string waits_for = allotment.wait == scheduler::Wait::kQuota ? DescribeQuota(job) : "";
    if (std::exchange(job.waits_for, waits_for) != waits_for) again_.insert(&job);
    const bool may_run = slots >= MinWorkers(job);
    if (may_run && !job.record.halt().empty()) {
      Unhalt(turn_, job, "there is room again");
      again_.insert(&job);
    }
    const bool lives = job.record.membership().members_size() > 0 && !job.record.released();
    if (!may_run && held > 0 && lives && allotment.taken_by != scheduler::kNone) return StopWhole(job, allotment);
    if (!job.record.halt().empty()) return;
    Give(j);
  }

  std::string DescribeQuota(const Job& job) const {
    const std::string& team = SpecOf(job).team();
    const auto known = turn_.state.prices.teams.find(team);
    if (known == turn_.state.prices.teams.end()) return "";
    return absl::StrCat("team ", team, " may have ", known->second.max_nodes, " nodes at once");
  }

  std::string WhyTaken(const Job& job, const scheduler::Allotment& allotment) const {
    if (allotment.taken_by == scheduler::kNone) return "it is more than the job may have";
    return absl::StrCat(Describe(*view_.jobs[allotment.taken_by].job), " needs it (has ", SpecOf(job).priority(), ")");
  }

  void StopWhole(Job& job, const scheduler::Allotment& allotment) {
    Halt(turn_, job, "preempted",
         absl::StrCat("preempted by ", Describe(*view_.jobs[allotment.taken_by].job), " (has ", SpecOf(job).priority(),
                      "); waits for ", Nodes(MinWorkers(job))));
    job.giving.clear();
    again_.insert(&job);
  }

  // What it has beyond its allotment goes: at a step boundary where members of it live.
  void Give(size_t j) {
    JobSlots& slots = view_.jobs[j];
    Job& job = *slots.job;
    const std::map<std::string, std::string> before = std::exchange(job.giving, {});
    std::vector<std::string> news;
    for (size_t g = 0; g < slots.held.size(); ++g) {
      const auto surplus = static_cast<int>(slots.held[g].size()) - AllottedOf(j, static_cast<int>(g));
      if (surplus <= 0) continue;
      std::vector<SlotAt> leaving = ToGive(job, slots.held[g], before, surplus);
      for (const SlotAt& at : leaving) {
        const std::string name = absl::StrCat(at.node->record.name(), "/", at.slot);
        if (!LivesAt(job, name)) {
          at.node->slots.erase(at.slot);
          view_.groups[g].free.push_back(at);
          continue;
        }
        job.giving[name] = WhyTaken(job, plans_[j].allotment);
        if (!before.count(name)) news.push_back(at.node->record.name());
      }
    }
    if (job.giving != before) again_.insert(&job);
    if (news.empty()) return;
    std::sort(news.begin(), news.end());
    news.erase(std::unique(news.begin(), news.end()), news.end());
    turn_.Emit(&job, "preempted",
               absl::StrCat("gives up ", JoinWords(news),
                            " at the next step boundary: ", WhyTaken(job, plans_[j].allotment)));
  }

  int AllottedOf(size_t j, int group) const {
    for (const scheduler::Slots& s : plans_[j].allotment.slots) {
      if (s.pool == group) return s.count;
    }
    return 0;
  }

  // Those that leave already, then those that may be taken anyway, then those that nobody works on; else the last.
  static std::vector<SlotAt> ToGive(const Job& job, const std::vector<SlotAt>& held,
                                    const std::map<std::string, std::string>& before, int count) {
    std::vector<std::tuple<bool, bool, bool, int>> ranked;
    for (size_t i = 0; i < held.size(); ++i) {
      const std::string name = absl::StrCat(held[i].node->record.name(), "/", held[i].slot);
      ranked.emplace_back(!before.count(name), held[i].node->record.hint().empty(), LivesAt(job, name),
                          -static_cast<int>(i));
    }
    std::sort(ranked.begin(), ranked.end());
    std::vector<SlotAt> out;
    for (int i = 0; i < count; ++i) out.push_back(held[-std::get<3>(ranked[i])]);
    return out;
  }

  Turn& turn_;
  PlanView view_;
  std::vector<scheduler::JobPlan> plans_;
  std::set<Job*> again_;
};

}  // namespace

void CheckPlanned(State& state, Job& job) {
  if (FactsOf(job) != job.planned_as) state.plan_due = true;
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
  state.plan_due = false;
  state.plan_at = kNever;
  state.planned_at = turn.now;
  FreeSlots(state);
  *again = Cycle(turn).Run();
  for (auto& [uid, job] : state.jobs) job.planned_as = FactsOf(job);
  for (auto& [name, node] : state.nodes) node.planned_as = FactsOf(node);
  return true;
}

}  // namespace rekindle::core
