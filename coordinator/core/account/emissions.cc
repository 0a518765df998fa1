#include "coordinator/core/account/emissions.h"

#include <algorithm>
#include <optional>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "coordinator/core/account/off_peak.h"
#include "coordinator/market/emission_forecast.h"
#include "coordinator/market/goal_words.h"

namespace rekindle::core {
namespace {

constexpr int kHorizonHours = 14 * 24;
constexpr double kALittle = 1.001;
// `kBlind` is the kind of the event which tells that the objective `greenest` of a job has no effect, because no
// emissions are known.
constexpr char kBlind[] = "greenest_unknown";

bool IsGreenest(const Job& job) {
  return ObjectiveOf(SpecOf(job).goals().objective()) == scheduler::Objective::kGreenest;
}

double WattsOf(const PoolPrices& pool, double watts) { return pool.node_watts > 0 ? pool.node_watts : watts; }

bool IsKnown(const State& state, const PoolPrices& pool, double now) {
  return !pool.carbon_region.empty() && IntensityAt(state.carbon, pool.carbon_region, now).has_value();
}

// Describes a time in the past by the clock, such as "10:00 UTC", or by how long ago it was.
std::string Ago(double then, double now) {
  const double hours = (now - then) / kHour;
  return hours < 24 ? ClockTime(then, now) : absl::StrFormat("%.0f hours ago", hours);
}

// Adds `value` over `hours` to a mean, and adds those hours to the hours that the mean covers.
void Mix(double value, double hours, double* mean, double* of_hours) {
  if (hours <= 0) return;
  *of_hours += hours;
  *mean += (value - *mean) * hours / *of_hours;
}

}  // namespace

double NodeWatts(const Job& job) {
  const auto& estimate = SpecOf(job).estimate();
  return estimate.has_node_watts() ? estimate.node_watts() : market::kDefaultNodeWatts;
}

std::vector<scheduler::Emission> EmissionsOf(const Turn& turn, const std::vector<std::string>& pools, double watts) {
  const State& state = turn.state;
  // Maps carbon regions to the intensities that are expected there, in g/kWh.
  std::map<std::string, std::vector<double>> expected;
  std::vector<scheduler::Emission> out(pools.size());
  double dirtiest = 0;
  for (size_t p = 0; p < pools.size(); ++p) {
    const PoolPrices& pool = *FindPool(state.prices, pools[p]);
    if (pool.carbon_region.empty()) continue;
    const auto [at, is_new] = expected.try_emplace(pool.carbon_region);
    if (is_new) at->second = ExpectedIntensity(state.carbon, pool.carbon_region, UnixNow(turn), kHorizonHours);
    out[p].expected = at->second;
    for (double& grams : out[p].expected) grams *= WattsOf(pool, watts) / 1000 / pool.devices;
    if (out[p].expected.empty()) continue;
    out[p].grams = out[p].expected[0];
    dirtiest = std::max(dirtiest, out[p].grams);
  }
  for (scheduler::Emission& emission : out) {
    if (emission.expected.empty()) emission.grams = kALittle * dirtiest;
  }
  return out;
}

double WatchCarbon(Turn& turn) {
  State& state = turn.state;
  if (!state.carbon.given || !state.carbon.asked) return kNever;
  const double now = UnixNow(turn);
  double look_at = kNever;
  std::set<std::string> regions;
  for (const auto& [name, pool] : state.prices.pools) {
    if (!pool.carbon_region.empty()) regions.insert(pool.carbon_region);
  }
  for (const std::string& region : regions) {
    const std::optional<double> intensity = IntensityAt(state.carbon, region, now);
    if (intensity.has_value()) {
      look_at = std::min(look_at, turn.now + FreshUntil(state.carbon, region) - now);
      if (state.carbon_missed.erase(region) == 0) continue;
      turn.Emit(nullptr, "carbon_known",
                absl::StrFormat("the carbon intensity of %s is known again: %.0f g/kWh", region, *intensity));
    } else if (state.carbon_missed.insert(region).second) {
      const auto series = state.carbon.regions.find(region);
      const std::string since = series == state.carbon.regions.end()
                                    ? absl::StrCat("nothing is known of the carbon intensity of ", region)
                                    : absl::StrCat("the carbon intensity of ", region, " is not known since ",
                                                   Ago(series->second.known_until, now));
      turn.Emit(nullptr, "carbon_unknown", absl::StrCat(since, ": its pools count as the dirtiest"));
    }
  }
  return look_at;
}

void TellIfBlind(Turn& turn, Job& job) {
  const State& state = turn.state;
  if (!IsGreenest(job) || (state.carbon.given && !state.carbon.asked) || job.told.contains(kBlind)) return;
  const double now = UnixNow(turn);
  bool orders = false;
  for (const auto& [name, pool] : state.prices.pools) {
    if (pool.ordered && IsKnown(state, pool, now)) return;
    orders = orders || pool.ordered;
  }
  turn.effects.crowded_out += job.told.Set(kBlind, {});
  std::string why = "no carbon intensity of a pool is known; give pools a carbon_region, and its data";
  if (!state.carbon.given) why = "the fleet file has no `carbon`: name a file or a feed there (docs/fleet.md)";
  if (!orders) why = "no pool of the fleet file has `machines`, so there is nothing to choose";
  turn.Emit(&job, kBlind, absl::StrCat("objective greenest acts as cheapest: ", why));
}

void AddEmissions(const CarbonBook& book, const PoolPrices& pool, double nodes, double watts, double from, double until,
                  v1::PoolCost* line) {
  if (pool.carbon_region.empty()) return;
  const IntensitySum sum = IntensityBetween(book, pool.carbon_region, from, until);
  if (sum.hours <= 0) return;
  const double kilowatts = nodes * WattsOf(pool, watts) / 1000;
  line->set_carbon_node_hours(line->carbon_node_hours() + nodes * sum.hours);
  line->set_kwh(line->kwh() + kilowatts * sum.hours);
  line->set_kg_co2(line->kg_co2() + kilowatts * sum.grams_per_kw / 1000);
}

void SumEmissions(v1::Cost* cost) {
  double kilograms = 0, node_hours = 0;
  for (const v1::PoolCost& line : cost->pools()) {
    kilograms += line.kg_co2();
    node_hours += line.carbon_node_hours();
  }
  cost->set_kg_co2(kilograms);
  cost->set_carbon_node_hours(node_hours);
}

void TakeMeans(const State& state, const Job& job, double now, v1::Cost* cost) {
  if (!IsGreenest(job) && SpecOf(job).goals().off_peak().empty()) return;
  for (v1::PoolCost& line : *cost->mutable_pools()) {
    const PoolPrices* pool = FindPool(state.prices, line.pool());
    if (pool == nullptr || pool->capacity != line.capacity()) continue;
    const double from = line.mean_until() > 0 ? line.mean_until() : job.record.job().status().submitted_at();
    if (now <= from) continue;
    line.set_mean_until(now);
    double mean = line.mean_price(), hours = line.mean_price_hours();
    const double passed = (now - from) / kHour;
    Mix(CostBetween(pool->price, from, now) / passed, passed, &mean, &hours);
    line.set_mean_price(mean);
    line.set_mean_price_hours(hours);
    const IntensitySum sum = IntensityBetween(state.carbon, pool->carbon_region, from, now);
    mean = line.mean_intensity(), hours = line.mean_intensity_hours();
    if (sum.hours > 0) Mix(sum.grams_per_kw / sum.hours, sum.hours, &mean, &hours);
    line.set_mean_intensity(mean);
    line.set_mean_intensity_hours(hours);
  }
}

}  // namespace rekindle::core
