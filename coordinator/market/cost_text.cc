#include "coordinator/market/cost_text.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "coordinator/market/goal_words.h"
#include "worker/train/levers/step_lever.h"

namespace rekindle::coordinator {
namespace {

std::string Fixed(double value, int digits) { return absl::StrFormat("%.*f", digits, value); }

bool Ended(v1::JobState state) { return state == v1::SUCCEEDED || state == v1::FAILED || state == v1::CANCELLED; }

// Replaces control characters. The currency in a fleet file is any text that its operator wrote, and terminals show it.
std::string Printable(std::string text) {
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) c = '?';
  }
  return text;
}

void AddTo(const v1::NeverRegistered& part, v1::NeverRegistered* sum) {
  sum->set_machines(sum->machines() + part.machines());
  sum->set_node_hours(sum->node_hours() + part.node_hours());
  sum->set_spent(sum->spent() + part.spent());
}

Saving BySpot(const v1::Cost& cost) {
  Saving saving{.by = "spot"};
  double hours = 0, spent = 0, on_demand = 0, unknown = 0;
  for (const v1::PoolCost& line : cost.pools()) {
    if (core::PoolCapacityOf(line.capacity()) != core::PoolCapacity::kSpot) continue;
    if (!line.on_demand_known()) {
      unknown += line.node_hours();
      continue;
    }
    hours += line.node_hours();
    spent += line.spent();
    on_demand += line.on_demand();
  }
  saving.amount = on_demand - spent;
  if (hours > 0) {
    saving.how = Fixed(hours, 3) + " node-hours on spot for " + Money(spent, cost) + "; on demand they cost " +
                 Money(on_demand, cost);
  } else {
    saving.how = unknown > 0 ? "not known" : "no node was of a spot pool";
  }
  if (unknown > 0)
    saving.how += "; the on-demand price of " + Fixed(unknown, 3) + " node-hours is not in the fleet file";
  return saving;
}

Saving ByRecovery(const v1::JobStatus& status) {
  const v1::Cost& cost = status.cost();
  Saving saving{.by = "recovery", .amount = cost.rework_saved()};
  if (cost.rework_steps_saved() > 0) {
    saving.how = Fixed(cost.rework_steps_saved(), 0) +
                 " steps lay between the newest checkpoint and the steps at which workers were lost: a restart from it "
                 "redoes them, this job did not; at the step time and rate of then";
    if (cost.rework_saved() <= 0) saving.how += ", where a price is known: none was";
  } else if (status.interruptions() == 0) {
    saving.how = "no worker was lost, so nothing would have been redone";
  } else {
    saving.how = std::to_string(status.interruptions()) +
                 " interruptions, none beyond the newest checkpoint: a restart would have redone nothing either";
  }
  return saving;
}

Saving ByElasticity(const v1::JobSpec::Workers& workers, const v1::Cost& cost) {
  Saving saving{.by = "elasticity"};
  const std::string most = std::to_string(cost.most_workers());
  if (workers.min() == workers.max()) {
    saving.how = "spec.workers.min is spec.workers.max: the job waits for all, as one of fixed size does";
  } else if (cost.most_workers() == 0) {
    saving.how = "no step of it has been counted yet";
  } else if (cost.fewer_node_hours() > 0) {
    saving.amount = cost.fewer_spent();
    saving.how = Fixed(cost.fewer_node_hours(), 3) + " node-hours of steps with fewer than " + most +
                 " workers: a job of fixed size of " + most + " that keeps its nodes while it waits would have paid " +
                 Money(cost.fewer_spent(), cost) + " for no step";
  } else if (cost.most_node_hours() > 0) {
    saving.how = "all its steps were made with " + most + (cost.most_workers() == 1 ? " worker" : " workers") +
                 ", the most it has had at once: one of that size would not have waited";
  } else {
    saving.how = "what its nodes cost is not known";
  }
  return saving;
}

Saving ByOffPeak(const v1::JobSpec::Goals& goals, const v1::Cost& cost) {
  Saving saving{.by = "off_peak"};
  if (goals.off_peak().empty()) {
    saving.how = "spec.goals.off_peak is not set: the job runs at any hour";
    return saving;
  }
  double hours = 0, spent = 0, at_mean = 0;
  for (const v1::PoolCost& line : cost.pools()) {
    if (line.mean_price_hours() <= 0) continue;
    hours += line.node_hours();
    spent += line.spent();
    at_mean += line.node_hours() * line.mean_price();
  }
  saving.amount = at_mean - spent;
  saving.how = hours > 0 ? Fixed(hours, 3) + " node-hours cost " + Money(spent, cost) +
                               "; at the mean price of their pools since the submit they cost " + Money(at_mean, cost)
                         : "it has held no node whose price is known";
  return saving;
}

Saving ByCarbon(const v1::JobSpec::Goals& goals, const v1::Cost& cost) {
  Saving saving{.by = "carbon"};
  if (core::ObjectiveOf(goals.objective()) != scheduler::Objective::kGreenest) {
    saving.how = "spec.goals.objective is not greenest: what nodes emit decides nothing";
    return saving;
  }
  double kwh = 0, kilograms = 0, at_mean = 0;
  for (const v1::PoolCost& line : cost.pools()) {
    if (line.mean_intensity_hours() <= 0) continue;
    kwh += line.kwh();
    kilograms += line.kg_co2();
    at_mean += line.kwh() * line.mean_intensity() / 1000;
  }
  if (kwh <= 0) {
    saving.how = "the carbon intensity of the pools that it used was not known: docs/fleet.md";
    return saving;
  }
  saving.kg_co2 = at_mean - kilograms;
  saving.how = Fixed(kwh, 3) + " kWh emitted " + KgCo2(kilograms) +
               "; at the mean intensity of their regions since the submit it is " + KgCo2(at_mean) +
               ". What cleaner regions saved is not in it";
  return saving;
}

// Names the sections of the job's spec that turn on a train::StepLever which may end the job early.
std::string EndingSections() {
  std::string names;
  for (const train::StepLever* lever : train::StepLevers()) {
    if (lever->ends_job) names += std::string(names.empty() ? "" : " and ") + "spec." + lever->name;
  }
  return names;
}

Saving ByLevers(const v1::JobStatus& status) {
  const v1::Cost& cost = status.cost();
  Saving saving{.by = "levers"};
  double seconds = 0;
  std::string names;
  for (const v1::LeverStatus& lever : status.levers()) {
    if (lever.seconds_saved() <= 0) continue;
    seconds += lever.seconds_saved();
    names += (names.empty() ? "" : ", ") + lever.lever();
  }
  if (seconds <= 0) {
    saving.how = "no lever has ended or shortened the job; see " + EndingSections();
    return saving;
  }
  const double rate = cost.hours() > 0 ? cost.spent() / cost.hours() : 0;
  saving.amount = seconds / 3600 * rate;
  saving.how =
      names + " saved " + Fixed(seconds, 1) + " s, at the job's mean rate of " + Money(rate, cost) + " an hour";
  return saving;
}

}  // namespace

std::string Money(double amount, const v1::Cost& cost) {
  const bool small = amount > -1 && amount < 1 && amount != 0;
  return Fixed(amount, small ? 4 : 2) + (cost.currency().empty() ? "" : " " + Printable(cost.currency()));
}

std::string KgCo2(double kilograms) { return Fixed(kilograms, 3) + " kg CO2"; }

std::string DescribeCarbon(const v1::Cost& cost) {
  const double unknown = cost.node_hours() - cost.carbon_node_hours();
  std::string text = cost.carbon_node_hours() > 0 ? KgCo2(cost.kg_co2()) : "not known";
  if (cost.carbon_node_hours() > 0 && unknown > 0.0005)
    text += ", without " + Fixed(unknown, 3) + " node-hours of which it is not known";
  return text;
}

std::string DescribeNeverRegistered(const v1::NeverRegistered& sum, const std::string& currency) {
  v1::Cost cost;
  cost.set_currency(currency);
  return Money(sum.spent(), cost) + " in " + Fixed(sum.node_hours(), 3) + " node-hours of " + Fixed(sum.machines(), 2) +
         " machines";
}

std::string ForecastRange(const v1::Cost& cost) {
  if (cost.forecast() <= 0) return "-";
  return Money(cost.forecast(), cost) + " (" + Money(cost.forecast_low(), cost) + " to " +
         Money(cost.forecast_high(), cost) + ")";
}

std::string DescribeForecast(const v1::Job& job) {
  const v1::Cost& cost = job.status().cost();
  if (Ended(job.status().state())) return "none: the job is over";
  if (cost.forecast() <= 0) {
    return job.status().step() == 0 ? "not known before a step is measured" : "not known while no priced node is held";
  }
  return ForecastRange(cost) + " when it is done" +
         (cost.budget() > 0 && cost.forecast() > cost.budget() ? ": more than the budget" : "");
}

std::string DescribeBudget(const v1::Cost& cost) {
  if (cost.budget() <= 0) return "none: spec.goals.budget sets one";
  return Money(cost.budget(), cost) + ", " + Fixed(100 * cost.spent() / cost.budget(), 1) + " % of it spent";
}

std::string DescribeOnDemand(const v1::Cost& cost) {
  // `compared` is the cost of the node-hours whose on-demand price is known.
  double compared = 0;
  double unknown = 0;
  for (const v1::PoolCost& line : cost.pools()) {
    if (line.on_demand_known()) {
      compared += line.spent();
    } else if (core::PoolCapacityOf(line.capacity()) != core::PoolCapacity::kUnpriced) {
      unknown += line.node_hours();
    }
  }
  std::string text = Money(cost.on_demand(), cost) + " for the same node-hours";
  if (cost.on_demand() > 0) text += ": " + Fixed(100 * (1 - compared / cost.on_demand()), 1) + " % saved";
  if (unknown > 0) text += " (without " + Fixed(unknown, 3) + " node-hours whose on-demand price is not known)";
  return text;
}

void CostTotal::Add(const v1::Job& job) {
  const v1::Cost& cost = job.status().cost();
  if (!cost.currency().empty()) sum_.set_currency(cost.currency());
  sum_.set_spent(sum_.spent() + cost.spent());
  sum_.set_on_demand(sum_.on_demand() + cost.on_demand());
  sum_.set_rate(sum_.rate() + cost.rate());
  sum_.set_node_hours(sum_.node_hours() + cost.node_hours());
  sum_.set_unpriced_node_hours(sum_.unpriced_node_hours() + cost.unpriced_node_hours());
  sum_.set_kg_co2(sum_.kg_co2() + cost.kg_co2());
  sum_.set_carbon_node_hours(sum_.carbon_node_hours() + cost.carbon_node_hours());
  sum_.set_until(std::max(sum_.until(), cost.until()));
  sum_.set_budget(sum_.budget() + cost.budget());
  if (cost.has_never_registered()) AddTo(cost.never_registered(), sum_.mutable_never_registered());
  const bool over = Ended(job.status().state());
  forecast_known_ = forecast_known_ && (over || cost.forecast() > 0);
  sum_.set_forecast(sum_.forecast() + (over ? cost.spent() : cost.forecast()));
  sum_.set_forecast_low(sum_.forecast_low() + (over ? cost.spent() : cost.forecast_low()));
  sum_.set_forecast_high(sum_.forecast_high() + (over ? cost.spent() : cost.forecast_high()));
}

v1::Cost CostTotal::Sum() const {
  v1::Cost sum = sum_;
  if (!forecast_known_) {
    sum.clear_forecast();
    sum.clear_forecast_low();
    sum.clear_forecast_high();
  }
  return sum;
}

v1::Cost TotalOf(const v1::ListJobsReply& jobs) {
  CostTotal total;
  for (const v1::Job& job : jobs.jobs()) total.Add(job);
  return total.Sum();
}

std::vector<Saving> SavingsOf(const v1::Job& job) {
  const v1::JobStatus& status = job.status();
  const v1::JobSpec& spec = status.resolved_spec();
  return {BySpot(status.cost()),
          ByElasticity(spec.workers(), status.cost()),
          ByRecovery(status),
          ByOffPeak(spec.goals(), status.cost()),
          ByCarbon(spec.goals(), status.cost()),
          ByLevers(status)};
}

}  // namespace rekindle::coordinator
