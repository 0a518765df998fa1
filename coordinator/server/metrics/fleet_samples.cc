#include "coordinator/server/metrics/fleet_samples.h"

#include <algorithm>
#include <set>
#include <utility>

namespace rekindle::coordinator {
namespace {

using Labels = common::MetricSamples::Labels;

constexpr char kOther[] = "other";
constexpr const char* kNodeStates[] = {"ready", "draining", "drained", "lost"};
constexpr std::pair<core::PoolTrouble, const char*> kTroubles[] = {{core::PoolTrouble::kNone, "none"},
                                                                   {core::PoolTrouble::kNoCapacity, "no_capacity"},
                                                                   {core::PoolTrouble::kThrottled, "throttled"},
                                                                   {core::PoolTrouble::kFailed, "failed"}};

// Holds sums over the nodes of one pool.
struct PoolNodes {
  std::map<std::string, double> by_state;
  double registered = 0;
  // `used` is the number of used slots of the nodes, and `free` the number of slots that are free for more trainers.
  double used = 0;
  double free = 0;
};

void Count(const v1::Node& node, PoolNodes& pool) {
  ++pool.by_state[node.state()];
  if (node.state() == "lost") return;
  ++pool.registered;
  const int used = std::min(node.trainers_size(), node.slots());
  pool.used += used;
  if (node.state() == "ready") pool.free += std::max(0, node.slots() - node.slot_faults_size() - used);
}

// Returns the names of the pools that get series of their own.
std::set<std::string> ListedPools(const FleetFacts& fleet) {
  std::set<std::string> listed;
  const auto add = [&](const std::string& name) {
    if (listed.size() < kListedPools) listed.insert(name);
  };
  for (const auto& [name, pool] : fleet.pools) {
    if (pool.in_fleet_file) add(name);
  }
  for (const auto& [name, pool] : fleet.pools) add(name);
  std::set<std::string> named;
  for (const v1::Node& node : fleet.nodes) named.insert(node.pool());
  for (const std::string& name : named) add(name);
  return listed;
}

void AddNodes(const std::string& name, const PoolNodes& nodes, common::MetricSamples& samples) {
  for (const char* state : kNodeStates) {
    const auto found = nodes.by_state.find(state);
    samples.Gauge("rekindle_nodes", "Nodes by pool and state.", found == nodes.by_state.end() ? 0 : found->second,
                  {{"pool", name}, {"state", state}});
  }
}

void AddSlots(const std::string& name, const PoolNodes& nodes, const PoolFacts* pool, common::MetricSamples& samples) {
  const double ordered = pool == nullptr ? 0 : std::max(0.0, pool->nodes_ordered - nodes.registered);
  const int each = pool == nullptr ? 1 : pool->slots_per_node;
  const std::pair<const char*, double> slots[] = {
      {"used", nodes.used}, {"free", nodes.free}, {"ordered", ordered * each}};
  for (const auto& [state, count] : slots) {
    samples.Gauge(
        "rekindle_slots",
        "Slots for trainers: used by one, free on nodes that are ready, or of nodes that are ordered and have "
        "not registered yet.",
        count, {{"pool", name}, {"state", state}});
  }
}

void AddPool(const std::string& name, const PoolFacts& pool, const std::string& currency,
             common::MetricSamples& samples) {
  const Labels labels = {{"pool", name}}, money = {{"pool", name}, {"currency", currency}};
  if (pool.in_fleet_file) {
    samples.Gauge("rekindle_pool_price_per_hour", "What a node of the pool costs an hour, now.", pool.price_per_hour,
                  {{"pool", name}, {"capacity", pool.capacity}, {"currency", currency}});
  }
  if (!pool.takes_orders) return;
  samples.Gauge("rekindle_pool_nodes_ordered", "Nodes that the pool is to have.", pool.nodes_ordered, labels);
  samples.Gauge("rekindle_pool_machines_running",
                "Machines of the pool that run or are being made, as its provider says.", pool.machines_running,
                labels);
  for (const auto& [trouble, word] : kTroubles) {
    samples.Gauge("rekindle_pool_trouble", "1 for what keeps the pool from having what is ordered.",
                  pool.trouble == trouble ? 1 : 0, {{"pool", name}, {"trouble", word}});
  }
  samples.Gauge("rekindle_pool_avoided", "1 while nothing is ordered of the pool, as it gave no nodes.",
                pool.avoided ? 1 : 0, labels);
  samples.Counter("rekindle_pool_never_registered_machines_total",
                  "Machines of the pool that ran, and whose nodes never registered.", pool.never_registered, labels);
  samples.Counter("rekindle_pool_never_registered_cost_total", "What machines that never registered have cost.",
                  pool.never_registered_cost, money);
}

}  // namespace

void AddFleetSamples(const FleetFacts& fleet, common::MetricSamples& samples) {
  const std::set<std::string> listed = ListedPools(fleet);
  std::map<std::string, PoolNodes> nodes;
  for (const std::string& name : listed) nodes[name];
  for (const v1::Node& node : fleet.nodes) Count(node, nodes[listed.contains(node.pool()) ? node.pool() : kOther]);
  // When the cluster has no node, the metrics page must show 0 nodes instead of nothing.
  if (nodes.empty()) nodes[""];
  for (const auto& [name, of_pool] : nodes) {
    const auto found = listed.contains(name) ? fleet.pools.find(name) : fleet.pools.end();
    const PoolFacts* pool = found == fleet.pools.end() ? nullptr : &found->second;
    AddNodes(name, of_pool, samples);
    AddSlots(name, of_pool, pool, samples);
    if (pool != nullptr) AddPool(name, *pool, fleet.currency, samples);
  }
}

}  // namespace rekindle::coordinator
