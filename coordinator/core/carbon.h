// What the grids emit: carbon intensity by region and hour, as the core sees it. Plain values; time is Unix seconds,
// intensity gCO2eq/kWh.
#ifndef REKINDLE_COORDINATOR_CORE_CARBON_H_
#define REKINDLE_COORDINATOR_CORE_CARBON_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rekindle::core {

struct CarbonSeries {
  int64_t first = 0;              // Hours since 1970: that of intensity[0].
  std::vector<double> intensity;  // Hour by hour. Not empty.
  double known_until = 0;         // Of what was measured: later hours are a forecast.
};

struct CarbonBook {
  bool given = false;         // The fleet file names a source ...
  bool asked = false;         // ... and that has answered, or failed, once.
  double stale_after = 7200;  // Seconds. So long after `known_until` the newest value still counts.
  std::map<std::string, CarbonSeries> regions;
};

// When that region's newest value stops to count. Minus infinity: nothing is known of it.
double FreshUntil(const CarbonBook& book, const std::string& region);

// Nothing where it is not known, or not any more.
std::optional<double> IntensityAt(const CarbonBook& book, const std::string& region, double at);

// Over the hours between two times of which the intensity is known.
struct IntensitySum {
  double hours = 0;
  double grams_per_kw = 0;  // What one kW emits in these hours.
};
IntensitySum IntensityBetween(const CarbonBook& book, const std::string& region, double from, double until);

// Of the hour that holds `now` and those after it: the forecast where there is one, else as the simulator expects it
// from the days before. Empty where the present is not known.
std::vector<double> ExpectedIntensity(const CarbonBook& book, const std::string& region, double now, int hours);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_CARBON_H_
