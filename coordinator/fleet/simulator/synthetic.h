// This file makes synthetic spot traces, for tests and for users who have no traces. The capacity of its zones comes
// and goes like that of public traces, with long tails, flapping, and prices that move slowly. The same seed always
// gives the same trace.
#ifndef REKINDLE_COORDINATOR_FLEET_SIMULATOR_SYNTHETIC_H_
#define REKINDLE_COORDINATOR_FLEET_SIMULATOR_SYNTHETIC_H_

#include <cstdint>
#include <string>

#include "coordinator/fleet/simulator/trace.h"

namespace rekindle::fleet {

struct SyntheticOptions {
  uint64_t seed = 1;
  int zones = 3;
  // `nodes` is the most nodes that a zone has.
  int nodes = 1;
  double hours = 24 * 30;
  double step_seconds = 300;
  // The price of each zone moves around `price`.
  double price = 1;
};

Trace SyntheticTrace(const SyntheticOptions& options);

// Returns the trace as the text of a file that ParseTrace reads. REQUIRES: it is a trace of zones.
std::string TraceText(const Trace& trace);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_SIMULATOR_SYNTHETIC_H_
