// What users may see of pools that take orders: only what is durable. Thread-compatible: the loop's thread owns it.
#ifndef REKINDLE_COORDINATOR_SERVER_POOL_BOARD_H_
#define REKINDLE_COORDINATOR_SERVER_POOL_BOARD_H_

#include <map>
#include <string>

#include "common/metrics.h"
#include "rekindle/v1/store.pb.h"

namespace rekindle::coordinator {

class PoolBoard {
 public:
  // Metrics are not owned and outlive it.
  explicit PoolBoard(common::Metrics* metrics) : metrics_(metrics) {}

  void Set(const v1::PoolRecord& pool) {
    pools_[pool.name()] = pool;
    const common::Metrics::Labels labels = {{"pool", pool.name()}};
    metrics_
        ->Gauge("rekindle_pool_never_registered", "Machines of a pool that ran and never registered, in all.", labels)
        .Set(pool.never_registered().machines());
    metrics_
        ->Gauge("rekindle_pool_never_registered_spent", "What these have cost, in the fleet file's currency.", labels)
        .Set(pool.never_registered().spent());
  }

  const std::map<std::string, v1::PoolRecord>& pools() const { return pools_; }  // By name.

 private:
  common::Metrics* const metrics_;
  std::map<std::string, v1::PoolRecord> pools_;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_POOL_BOARD_H_
