// What the page says of nodes, slots and pools. At most kListedPools pools have series of their own.
#ifndef REKINDLE_COORDINATOR_SERVER_METRICS_FLEET_SAMPLES_H_
#define REKINDLE_COORDINATOR_SERVER_METRICS_FLEET_SAMPLES_H_

#include <map>
#include <string>
#include <vector>

#include "common/metric_samples.h"
#include "coordinator/core/pool_orders.h"
#include "rekindle/v1/node.pb.h"

namespace rekindle::coordinator {

// Pools of the fleet file first, by name. Nodes of others are together in one pool "other": a node may name any.
inline constexpr size_t kListedPools = 200;

// A pool of the fleet file, or one that the coordinator keeps a record of.
struct PoolFacts {
  bool in_fleet_file = false;
  std::string capacity;  // "spot" or "on_demand".
  double price_per_hour = 0;
  int slots_per_node = 1;
  bool takes_orders = false;
  int nodes_ordered = 0;
  int machines_running = 0;  // The provider's own count.
  core::PoolTrouble trouble = core::PoolTrouble::kNone;
  bool avoided = false;
  double never_registered = 0;  // Machines, in all.
  double never_registered_cost = 0;
};

struct FleetFacts {
  std::vector<v1::Node> nodes;
  std::map<std::string, PoolFacts> pools;  // By name.
  std::string currency;
};

void AddFleetSamples(const FleetFacts& fleet, common::MetricSamples& samples);

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_METRICS_FLEET_SAMPLES_H_
