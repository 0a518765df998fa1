// This file holds the carbon intensity of power grids, by region and hour, in the form in which the core gets it. Times
// are Unix seconds, and intensities are gCO2eq/kWh.
#ifndef REKINDLE_COORDINATOR_MARKET_CARBON_H_
#define REKINDLE_COORDINATOR_MARKET_CARBON_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rekindle::core {

struct CarbonSeries {
  // `first` is the hour of intensity[0], counted in hours since 1970.
  int64_t first = 0;
  // `intensity` has one value for each hour. It is not empty.
  std::vector<double> intensity;
  // `known_until` is the end of what was measured. Later hours are a forecast.
  double known_until = 0;
};

struct CarbonBook {
  // `given` says that the fleet file names a source of carbon intensity.
  bool given = false;
  // `asked` says that the source of carbon intensity has answered or failed at least once.
  bool asked = false;
  // A region's newest carbon intensity still counts for `stale_after` seconds after `known_until`.
  double stale_after = 7200;
  std::map<std::string, CarbonSeries> regions;
};

// Returns the time when the region's newest value ceases to count, or minus infinity where nothing is known of the
// region.
double FreshUntil(const CarbonBook& book, const std::string& region);

// Returns the region's carbon intensity at the time `at`. Returns nothing where the intensity is not known, or is too
// old to count.
std::optional<double> IntensityAt(const CarbonBook& book, const std::string& region, double at);

// An IntensitySum covers the time between two moments, without the hours whose carbon intensity is not known.
struct IntensitySum {
  double hours = 0;
  // `grams_per_kw` is what a constant draw of one kW emits in the hours that the sum covers.
  double grams_per_kw = 0;
};
IntensitySum IntensityBetween(const CarbonBook& book, const std::string& region, double from, double until);

// Returns the intensity of the hour that holds `now` and of the hours after it. It takes the source's forecast where
// there is one, and otherwise estimates from the days before, as the simulator does. Returns an empty list where the
// present intensity is not known.
std::vector<double> ExpectedIntensity(const CarbonBook& book, const std::string& region, double now, int hours);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_MARKET_CARBON_H_
