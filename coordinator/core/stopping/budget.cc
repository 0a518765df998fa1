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

// The user gets an alert when each of these percentages of the budget is spent. The job's pause at `kAllSpent` is the
// third level.
constexpr std::array kLevels = {50, 80};
constexpr int kAllSpent = 100;
// The job is looked at just when a level is reached. Amounts and times are rounded, so it may be missing so many
// percent.
constexpr double kRounding = 1e-7;
// An alert comes again only if a raise of the budget brought the spent share this many percentage points below its
// level.
constexpr int kEaseLevels = 5;
// The user gets an alert when the job's rate of spending is above this multiple of its usual rate.
constexpr double kUnusual = 2;
// An alert about the rate of spending may come again once the rate was below this multiple of the usual one for
// `kUsualAfterHours`.
constexpr double kUsualAgain = 1.5;
constexpr double kUsualAfterHours = 1.0 / 6;

std::string Spent(const v1::Cost& cost) {
  return absl::StrCat(Money(cost.spent(), cost.currency()), " of ", Money(cost.budget(), cost.currency()));
}

// Wakes the job when the next level of its budget is spent.
void WakeAtLevel(const Turn& turn, Job& job) {
  const v1::Cost& cost = job.record.job().status().cost();
  const double rate = RateOf(turn.state.prices, job.account.shares, UnixNow(turn));
  if (rate <= 0) return;
  for (const int level : kLevels) {
    const double left = cost.budget() * level / 100 - cost.spent();
    if (level <= cost.alerted_percent() || left < 0) continue;
    return turn.Wake(job, turn.now + left / rate * kHour);
  }
}

void TellLevels(Turn& turn, Job& job) {
  v1::Cost* cost = CostOf(job);
  const double percent = 100 * cost->spent() / cost->budget();
  if (cost->alerted_percent() > 0 && percent < cost->alerted_percent() - kEaseLevels) {
    // The budget was raised. Alert levels below the share that is spent now are not news.
    cost->set_alerted_percent(0);
    for (const int level : kLevels) {
      if (percent >= level - kEaseLevels) cost->set_alerted_percent(level);
    }
    turn.Save(job);
  }
  int reached = 0;
  for (const int level : kLevels) reached = percent >= level - kRounding ? level : reached;
  if (reached <= cost->alerted_percent()) return WakeAtLevel(turn, job);
  cost->set_alerted_percent(reached);
  turn.Save(job);
  std::string rest;
  if (cost->rate() > 0) {
    const double hours = std::max(0.0, cost->budget() - cost->spent()) / cost->rate();
    rest = absl::StrCat("; at ", Money(cost->rate(), cost->currency()), " an hour the rest lasts ",
                        hours < 1 ? Seconds(hours * kHour) : absl::StrFormat("%.1f h", hours));
  }
  turn.Emit(&job, "budget_alert", absl::StrCat(reached, " % of the budget is spent: ", Spent(*cost), rest));
  WakeAtLevel(turn, job);
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

// Returns how many seconds before the budget is spent the pause must begin, because the step has to end and a
// checkpoint has to be written.
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

// Returns how many slots a waiting job lacks for its minimum. It lacks none while some of its nodes are lost, because
// they may come back.
int LackingSlots(const State& state, const Job& job) {
  if (job.active || !job.record.lost_nodes().empty()) return 0;
  double held = 0;
  for (const v1::JobRecord::ChargedNode& node : job.record.held_nodes()) {
    const auto known = state.nodes.find(node.node());
    if (known != state.nodes.end()) held += node.part() * known->second.record.slots();
  }
  return std::max(0, MinWorkers(job) - static_cast<int>(std::lround(held)));
}

// Returns whether the job waits for slots and its budget has no room for them.
bool WaitsForTooMuch(const Turn& turn, const Job& job) {
  const int lacking = LackingSlots(turn.state, job);
  if (lacking == 0) return false;
  const double now = UnixNow(turn);
  const double price = LowestPrice(turn.state, job, now);
  // While it holds nodes that cost something, the job would otherwise wait until the whole budget is spent on them.
  // Room that its spending grant takes does not count, as the grant ends.
  if (LivingRate(turn.state, job, now) > 0) {
    return price > 0 && BudgetLeft(turn.state, job, now) < LeastForSlots(turn.state, job, now, price, lacking);
  }
  // A gang must have all of its slots in one group of nodes, and the nodes that it holds are without a price.
  const bool is_gang = MinWorkers(job) == MaxWorkers(job);
  return RoomForSlots(turn, job, price) < (is_gang ? MinWorkers(job) : lacking);
}

// Frees the nodes of a job that its budget has paused, because they cost money as long as the job has them. Frees them
// once the job's state is safe, or once the budget is exceeded anyhow.
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
  // With a budget of no more than `least` the job would be paused again at once, or as soon as its nodes are back.
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
  // A paused job without nodes needs no look at its budget before its user resumes it. A job that only gave its nodes
  // to another job goes on by itself when there is room for it, so its budget is looked at meanwhile.
  const bool rests = job.record.released() && (job.record.halt().empty() || job.record.want_paused());
  if (cost->budget() <= 0 || rests) return;
  // A finishing job is not stopped, because what it has to save was paid for already.
  if (IsFinishing(job)) return TellLevels(turn, job);
  if (!job.record.budget_stop().empty()) return TryRelease(turn, job);
  TellLevels(turn, job);
  // Nothing causes a look at a waiting job when its old nodes become free or prices change, so the job is to be looked
  // at again after a while.
  if (!job.active) turn.Wake(job, turn.now + turn.state.tunables.evaluation_seconds);
  if (WaitsForTooMuch(turn, job)) return Stop(turn, job);
  const double rate = LivingRate(turn.state, job, UnixNow(turn));
  // The job costs nothing at present.
  if (rate <= 0 && cost->spent() < cost->budget()) return;
  const double left = rate > 0 ? BudgetLeft(turn.state, job, UnixNow(turn)) / rate * kHour : 0;
  const double lead = LeadSeconds(turn.state.tunables, job);
  if (left > lead) return turn.Wake(job, turn.now + left - lead);
  Stop(turn, job);
}

}  // namespace rekindle::core
