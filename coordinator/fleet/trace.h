// Readers of trace files (docs/fleet.md has the formats). Text in, values out; strict: a column that is not known, a
// gap, a clock that goes backwards or a value that cannot be is INVALID_ARGUMENT with file, line and what to do.
#ifndef REKINDLE_COORDINATOR_FLEET_TRACE_H_
#define REKINDLE_COORDINATOR_FLEET_TRACE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace rekindle::fleet {

inline constexpr double kMaxTraceSteps = 10'000'000;

// Capacity of one zone, one value a step; `prices` is empty where the file has none.
struct ZoneTrace {
  std::string zone;
  std::vector<int> nodes;
  std::vector<double> prices;
};

struct Trace {
  double step_seconds = 0;
  std::vector<ZoneTrace> zones;  // All of one length.
  std::string carbon_region;     // With `grams_per_kwh`, one value an hour, and no zones.
  std::vector<double> grams_per_kwh;
  double begin = 0;  // Of carbon: Unix time of its first hour.
};

struct TraceOptions {
  // A file of ticks does not say how long one is. Events and counts, which have times, are sampled so often; 60 where
  // 0.
  double step_seconds = 0;
  // What the one series of a file is called. Empty: as its column says; events, counts and carbon after the file.
  std::string name;
};

// The form is known from the header line.
absl::StatusOr<Trace> ParseTrace(std::string_view text, const std::string& source, const TraceOptions& options);

// `count` ticks become one; a zone has in it what it had in all of them, at their mean price.
Trace Merge(const Trace& trace, int count);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_TRACE_H_
