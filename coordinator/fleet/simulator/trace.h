// This file reads trace files (docs/fleet.md has the formats). It is strict: an unknown column, a gap, a clock that
// goes backwards or an impossible value is INVALID_ARGUMENT. The error names the file, the line and what to do.
#ifndef REKINDLE_COORDINATOR_FLEET_SIMULATOR_TRACE_H_
#define REKINDLE_COORDINATOR_FLEET_SIMULATOR_TRACE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace rekindle::fleet {

inline constexpr double kMaxTraceSteps = 10'000'000;

// A ZoneTrace is the capacity of one zone, with one value for each step. `prices` is empty where the file has none.
struct ZoneTrace {
  std::string zone;
  std::vector<int> nodes;
  std::vector<double> prices;
};

struct Trace {
  double step_seconds = 0;
  // All zones have the same length.
  std::vector<ZoneTrace> zones;
  // A trace of carbon has a `carbon_region`, one value of `grams_per_kwh` for each hour, and no zones.
  std::string carbon_region;
  std::vector<double> grams_per_kwh;
  // For carbon, `begin` is the Unix time of the first hour.
  double begin = 0;
};

struct TraceOptions {
  // `step_seconds` is the length of a tick, which a file of ticks does not state. Events and counts have times, and are
  // sampled at this interval. For them 0 means 60.
  double step_seconds = 0;
  // `name` names the one series of a file. Where it is empty, a series has the name of its column, and events, counts
  // and carbon have the name of the file.
  std::string name;
};

// Parses a trace. The header line determines the form.
absl::StatusOr<Trace> ParseTrace(std::string_view text, const std::string& source, const TraceOptions& options);

// Merges each `count` ticks into one. A zone then has the nodes that it had in all of them, at their mean price.
Trace Merge(const Trace& trace, int count);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_SIMULATOR_TRACE_H_
