#include "coordinator/market/carbon.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "coordinator/market/emission_forecast.h"
#include "coordinator/market/prices.h"

namespace rekindle::core {
namespace {

// A forecast uses the carbon intensity of the last `kHistoryHours` hours.
constexpr int64_t kHistoryHours = 8 * 24;

int64_t HourOf(double at) { return static_cast<int64_t>(std::floor(at / kHour)); }

double InHour(const CarbonSeries& series, int64_t hour) {
  const auto last = static_cast<int64_t>(series.intensity.size()) - 1;
  return series.intensity[std::clamp<int64_t>(hour - series.first, 0, last)];
}

const CarbonSeries* Find(const CarbonBook& book, const std::string& region) {
  const auto found = book.regions.find(region);
  return found == book.regions.end() ? nullptr : &found->second;
}

}  // namespace

double FreshUntil(const CarbonBook& book, const std::string& region) {
  const CarbonSeries* series = Find(book, region);
  return series == nullptr ? -std::numeric_limits<double>::infinity() : series->known_until + book.stale_after;
}

std::optional<double> IntensityAt(const CarbonBook& book, const std::string& region, double at) {
  const CarbonSeries* series = Find(book, region);
  if (series == nullptr || HourOf(at) < series->first || at >= FreshUntil(book, region)) return std::nullopt;
  return InHour(*series, HourOf(at));
}

IntensitySum IntensityBetween(const CarbonBook& book, const std::string& region, double from, double until) {
  IntensitySum sum;
  const CarbonSeries* series = Find(book, region);
  if (series == nullptr) return sum;
  from = std::max(from, static_cast<double>(series->first) * kHour);
  until = std::min(until, FreshUntil(book, region));
  while (from < until) {
    const int64_t hour = HourOf(from);
    const double end = std::min(until, static_cast<double>(hour + 1) * kHour);
    const double hours = (end - from) / kHour;
    sum.hours += hours;
    sum.grams_per_kw += hours * InHour(*series, hour);
    from = end;
  }
  return sum;
}

std::vector<double> ExpectedIntensity(const CarbonBook& book, const std::string& region, double now, int hours) {
  if (!IntensityAt(book, region, now)) return {};
  const CarbonSeries& series = *Find(book, region);
  const int64_t present = HourOf(now);
  std::vector<double> known;
  for (int64_t hour = std::max(series.first, present - kHistoryHours); hour <= present; ++hour) {
    known.push_back(InHour(series, hour));
  }
  std::vector<double> expected = market::ForecastEmissions(known, static_cast<int>(known.size()) - 1, hours);
  const int64_t end = series.first + static_cast<int64_t>(series.intensity.size());
  for (int ahead = 1; ahead < hours && present + ahead < end; ++ahead)
    expected[ahead] = InHour(series, present + ahead);
  return expected;
}

}  // namespace rekindle::core
