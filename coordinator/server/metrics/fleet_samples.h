// Writes the metrics of nodes, slots and pools. At most kListedPools pools have series of their own.
#ifndef REKINDLE_COORDINATOR_SERVER_METRICS_FLEET_SAMPLES_H_
#define REKINDLE_COORDINATOR_SERVER_METRICS_FLEET_SAMPLES_H_

#include <map>
#include <string>
#include <vector>

#include "common/metrics/metric_samples.h"
#include "coordinator/market/pool_orders.h"
#include "rekindle/v1/node.pb.h"

namespace rekindle::coordinator {

// At most `kListedPools` pools have series of their own. Pools of the fleet file come first, in the order of their
// names. The nodes of all further pools are counted together as one pool "other", because a node may name any pool.
inline constexpr size_t kListedPools = 200;

// Describes a pool that is in the fleet file, or that took orders before it was removed from the file.
struct PoolFacts {
  bool in_fleet_file = false;
  // `capacity` is "spot" or "on_demand".
  std::string capacity;
  double price_per_hour = 0;
  int slots_per_node = 1;
  bool takes_orders = false;
  int nodes_ordered = 0;
  // `machines_running` is how many machines of the pool run or are being made, as its provider says.
  int machines_running = 0;
  core::PoolTrouble trouble = core::PoolTrouble::kNone;
  bool avoided = false;
  // `never_registered` counts all machines so far that ran and whose nodes never registered.
  double never_registered = 0;
  double never_registered_cost = 0;
};

struct FleetFacts {
  std::vector<v1::Node> nodes;
  // `pools` maps the name of a pool to what is known of the pool.
  std::map<std::string, PoolFacts> pools;
  std::string currency;
};

void AddFleetSamples(const FleetFacts& fleet, common::MetricSamples& samples);

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_METRICS_FLEET_SAMPLES_H_
