// This file reads trace files (docs/fleet.md has the formats). The parser is strict: an unknown column, a gap, a clock
// that goes backwards or an impossible value is INVALID_ARGUMENT. The error names the file, the line and what to do.
#ifndef REKINDLE_COORDINATOR_FLEET_SIMULATOR_TRACE_H_
#define REKINDLE_COORDINATOR_FLEET_SIMULATOR_TRACE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace rekindle::fleet {

inline constexpr double kMaxTraceSteps = 10'000'000;

// A ZoneTrace is the capacity of one zone, with one value for each step. `prices` is empty where the trace file has
// none.
struct ZoneTrace {
  std::string zone;
  std::vector<int> nodes;
  std::vector<double> prices;
};

struct Trace {
  double step_seconds = 0;
  // The series of all zones have the same length.
  std::vector<ZoneTrace> zones;
  // A trace of carbon has a `carbon_region`, one value of `grams_per_kwh` for each hour, and no zones.
  std::string carbon_region;
  std::vector<double> grams_per_kwh;
  // In a trace of carbon, `begin` is the Unix time of the first hour.
  double begin = 0;
};

struct TraceOptions {
  // In a file of ticks, which does not state the length of a tick, `step_seconds` is that length. Files of events and
  // of counts state times. They are sampled every `step_seconds` seconds, where 0 means 60.
  double step_seconds = 0;
  // `name` names the series of a file that has only one. Where it is empty, a series has the name of its column, and
  // events, counts and carbon have the name of the file.
  std::string name;
};

// Parses the text of a trace file. The header line determines the format.
absl::StatusOr<Trace> ParseTrace(std::string_view text, const std::string& source, const TraceOptions& options);

// Merges each `count` steps of a trace into one. A zone then has the nodes that it had in all of these steps, at their
// mean price.
Trace Merge(const Trace& trace, int count);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_SIMULATOR_TRACE_H_
