#include "coordinator/core/stopping/budget.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "coordinator/core/account/costs.h"
#include "coordinator/core/account/spending.h"
#include "coordinator/core/state/text.h"
#include "coordinator/core/stopping/halting.h"

namespace rekindle::core {
namespace {

// An alert is due at each of these percentages. The pause is the third level.
constexpr std::array kLevels = {50, 80};
constexpr int kAllSpent = 100;
// A level is told again only if a raise of the budget brought the share so far below it. The unit is percent.
constexpr int kEaseLevels = 5;
constexpr double kUnusual = 2;  // Times the usual rate.
// An alert about the rate may come again once the rate was below so many times the usual one for `kUsualAfterHours`.
constexpr double kUsualAgain = 1.5;
constexpr double kUsualAfterHours = 1.0 / 6;

std::string Spent(const v1::Cost& cost) {
  return absl::StrCat(Money(cost.spent(), cost.currency()), " of ", Money(cost.budget(), cost.currency()));
}

void TellLevels(Turn& turn, Job& job) {
  v1::Cost* cost = CostOf(job);
  const double percent = 100 * cost->spent() / cost->budget();
  if (cost->alerted_percent() > 0 && percent < cost->alerted_percent() - kEaseLevels) {
    // The budget was raised. Levels below the present share are not news.
    cost->set_alerted_percent(0);
    for (const int level : kLevels) {
      if (percent >= level - kEaseLevels) cost->set_alerted_percent(level);
    }
    turn.Save(job);
  }
  int reached = 0;
  for (const int level : kLevels) reached = percent >= level ? level : reached;
  if (reached <= cost->alerted_percent()) return;
  cost->set_alerted_percent(reached);
  turn.Save(job);
  std::string rest;
  if (cost->rate() > 0) {
    const double hours = std::max(0.0, cost->budget() - cost->spent()) / cost->rate();
    rest = absl::StrCat("; at ", Money(cost->rate(), cost->currency()), " an hour the rest lasts ",
                        hours < 1 ? Seconds(hours * kHour) : absl::StrFormat("%.1f h", hours));
  }
  turn.Emit(&job, "budget_alert", absl::StrCat(reached, " % of the budget is spent: ", Spent(*cost), rest));
}

void TellBurnRate(Turn& turn, Job& job) {
  v1::Cost* cost = CostOf(job);
  if (cost->burn_alerted()) {
    if (cost->rate() >= kUsualAgain * cost->usual_rate()) {
      job.account.usual_since = kNever;
    } else if (job.account.usual_since == kNever) {
      job.account.usual_since = turn.now;
    } else if (turn.now >= job.account.usual_since + kUsualAfterHours * kHour) {
      cost->set_burn_alerted(false);
      turn.Save(job);
    }
    return;
  }
  if (cost->rated_hours() < kUsualAfterHours || cost->rate() <= kUnusual * cost->usual_rate()) return;
  cost->set_burn_alerted(true);
  job.account.usual_since = kNever;
  turn.Save(job);
  turn.Emit(&job, "burn_rate",
            absl::StrFormat("the job costs %s an hour, %.1f times its usual %s", Money(cost->rate(), cost->currency()),
                            cost->rate() / cost->usual_rate(), Money(cost->usual_rate(), cost->currency())));
}

// Returns how long before the budget is spent the pause must begin. The step has to end, and a checkpoint has to be
// written.
double LeadSeconds(const Tunables& tunables, const Job& job) {
  constexpr double kSteps = 2;
  return tunables.evaluation_seconds + tunables.pause_seconds + kSteps * job.record.job().status().step_seconds();
}

void Stop(Turn& turn, Job& job) {
  v1::Cost* cost = CostOf(job);
  cost->set_alerted_percent(kAllSpent);
  job.record.set_budget_stop(DescribeOverBudget(job));
  job.record.set_want_paused(true);
  turn.Save(job);
  turn.Emit(&job, "budget_stop",
            absl::StrCat(job.active ? "pause at the next step boundary: " : "", job.record.budget_stop()));
}

// Returns how many slots a job that holds nothing but nodes without a price lacks of its minimum. A gang comes together
// in one group of nodes, so none of those that it holds counts for it.
int SlotsToBuy(const State& state, const Job& job) {
  const int least = MinWorkers(job);
  double held = 0;
  for (const v1::JobRecord::ChargedNode& node : job.record.held_nodes()) {
    const auto known = state.nodes.find(node.node());
    if (known != state.nodes.end()) held += node.part() * known->second.record.slots();
  }
  const auto has = static_cast<int>(std::lround(held));
  if (has >= least) return 0;
  return least == MaxWorkers(job) ? least : least - has;
}

// Frees the nodes of a paused job when its state is safe, or when the limit is reached anyhow, because they cost until
// then.
void TryRelease(Turn& turn, Job& job) {
  const v1::Cost& cost = *CostOf(job);
  const double over = cost.spent() - cost.budget();
  const bool late = over > 0 && over >= cost.rate() * turn.state.tunables.evaluation_seconds / kHour;
  const bool saved = IsSaved(job);
  if (!saved && !late) return turn.Wake(job, turn.now + 1);
  ReleaseNodes(turn, job, "was given up for the budget");
  turn.Emit(
      &job, "nodes_released",
      absl::StrCat("the job gave its nodes up for its budget; ", DescribeLoss(job), "; ", Spent(cost), " are spent"));
}

}  // namespace

absl::Status CheckBudget(const State& state, const v1::JobSpec& spec, double unix_now) {
  const double budget = spec.goals().budget();
  if (budget <= 0) return absl::OkStatus();
  if (state.prices.pools.empty()) {
    return absl::InvalidArgumentError(
        "spec.goals.budget: nobody knows what a node costs: start the coordinator with --fleet FILE (docs/costs.md), "
        "or "
        "remove it");
  }
  std::string pool;
  const int workers = std::max(1, spec.workers().min());
  const double least = LeastMinute(state, workers, unix_now, &pool);
  if (budget >= least) return absl::OkStatus();
  const std::string& currency = state.prices.currency;
  return absl::InvalidArgumentError(absl::StrCat("spec.goals.budget: ", Money(budget, currency),
                                                 " is too small: a minute of ", workers,
                                                 workers == 1 ? " node" : " nodes", " in the cheapest pool ", pool,
                                                 " costs ", Money(least, currency), ": allow at least that"));
}

absl::Status SetBudget(Turn& turn, Job& job, double budget) {
  v1::JobSpec spec = SpecOf(job);
  spec.mutable_goals()->set_budget(budget);
  if (absl::Status status = CheckBudget(turn.state, spec, UnixNow(turn)); !status.ok()) return status;
  v1::Cost* cost = CostOf(job);
  if (budget <= cost->spent()) {
    return absl::InvalidArgumentError(absl::StrCat("budget: ", Money(budget, cost->currency()), " is below the ",
                                                   Money(cost->spent(), cost->currency()),
                                                   " that are spent already: give more, or pause the job"));
  }
  turn.Emit(&job, "budget_set",
            absl::StrCat("the budget is ", Money(budget, turn.state.prices.currency), " from now on; it was ",
                         Money(cost->budget(), turn.state.prices.currency)));
  cost->set_budget(budget);
  turn.Save(job);
  return absl::OkStatus();
}

absl::Status CheckResume(const Turn& turn, const Job& job) {
  const v1::Cost& cost = job.record.job().status().cost();
  if (job.record.budget_stop().empty()) return absl::OkStatus();
  // With less than this the job would be paused again at once, or as soon as its nodes are back.
  const double now = UnixNow(turn);
  const double price = LowestPrice(turn.state, job, now);
  const double rate = std::max(cost.usual_rate(), MinWorkers(job) * price);
  const double pausing = rate * LeadSeconds(turn.state.tunables, job) / kHour;
  const double committed = cost.budget() - BudgetLeft(turn.state, job, now);
  const double least = committed + pausing + NeededForSlots(turn, job, price, MinWorkers(job));
  if (cost.budget() > least) return absl::OkStatus();
  const std::string& name = job.record.job().name();
  return absl::FailedPreconditionError(absl::StrCat("the budget of job ", name, " has no room: ", Spent(cost),
                                                    " are spent; raise it above ", Money(least, cost.currency()),
                                                    ": rekindle resume ", name, " --budget AMOUNT"));
}

void KeepBudget(Turn& turn, Job& job) {
  v1::Cost* cost = CostOf(job);
  if (!job.account.shares.empty()) TellBurnRate(turn, job);
  // A job that gave its nodes to another job goes on when there is room, also in its budget.
  const bool rests = job.record.released() && (job.record.halt().empty() || job.record.want_paused());
  if (cost->budget() <= 0 || rests) return;
  // A finishing job is not stopped, because what it has to save was paid for already.
  if (IsFinishing(job)) return TellLevels(turn, job);
  if (!job.record.budget_stop().empty()) return TryRelease(turn, job);
  TellLevels(turn, job);
  // A job that waits does not hear when its old nodes are free or when prices change, so that it looks again in time.
  if (!job.active) turn.Wake(job, turn.now + turn.state.tunables.evaluation_seconds);
  const double rate = LivingRate(turn.state, job, UnixNow(turn));
  if (rate <= 0 && cost->spent() < cost->budget()) {
    // Nothing that the job has could be stopped to save money.
    const bool waits = !job.active && job.record.lost_nodes().empty();
    const int lacks = waits ? SlotsToBuy(turn.state, job) : 0;
    if (RoomForSlots(turn, job, LowestPrice(turn.state, job, UnixNow(turn))) < lacks) Stop(turn, job);
    return;
  }
  const double left = rate > 0 ? BudgetLeft(turn.state, job, UnixNow(turn)) / rate * kHour : 0;
  const double lead = LeadSeconds(turn.state.tunables, job);
  if (left > lead) return turn.Wake(job, turn.now + left - lead);
  Stop(turn, job);
}

}  // namespace rekindle::core
