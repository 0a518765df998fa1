// Synthetic spot traces, for tests and for those who have none: zones whose capacity comes and goes like that of public
// traces (long tails, flapping, prices that move slowly), reproducible from a seed.
#ifndef REKINDLE_COORDINATOR_FLEET_SYNTHETIC_H_
#define REKINDLE_COORDINATOR_FLEET_SYNTHETIC_H_

#include <cstdint>
#include <string>

#include "coordinator/fleet/trace.h"

namespace rekindle::fleet {

struct SyntheticOptions {
  uint64_t seed = 1;
  int zones = 3;
  int nodes = 1;  // The most of a zone.
  double hours = 24 * 30;
  double step_seconds = 300;
  double price = 1;  // Around it each zone's price moves.
};

Trace SyntheticTrace(const SyntheticOptions& options);

// As a file that ParseTrace reads. REQUIRES: a trace of zones.
std::string TraceText(const Trace& trace);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_SYNTHETIC_H_
