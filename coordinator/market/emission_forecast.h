// This file forecasts what a power grid will emit in the coming hours, from the hours before.
#ifndef REKINDLE_COORDINATOR_MARKET_EMISSION_FORECAST_H_
#define REKINDLE_COORDINATOR_MARKET_EMISSION_FORECAST_H_

#include <vector>

namespace rekindle::market {

// A node is assumed to draw `kDefaultNodeWatts` watts where neither its pool nor its job states the power.
inline constexpr double kDefaultNodeWatts = 500;

// Returns the expected emissions of `horizon` hours, and always at least one value. The first value is that of the hour
// `now`. `grams` holds one value for each hour up to the present one, and perhaps beyond. Each coming hour is expected
// to be like the same hour of the days before. The newest days count most, and the result is scaled by how the last
// hours compare with the same hours of the days before, less and less for later hours. REQUIRES: 0 <= now <
// grams.size().
std::vector<double> ForecastEmissions(const std::vector<double>& grams, int now, int horizon);

}  // namespace rekindle::market

#endif  // REKINDLE_COORDINATOR_MARKET_EMISSION_FORECAST_H_
