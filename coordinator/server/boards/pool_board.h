// Holds what users may see of pools that take orders, which is only what is durable. It also holds what was ordered
// from their providers, and what the providers report. The class is thread-compatible: the loop's thread owns it.
#ifndef REKINDLE_COORDINATOR_SERVER_BOARDS_POOL_BOARD_H_
#define REKINDLE_COORDINATOR_SERVER_BOARDS_POOL_BOARD_H_

#include <map>
#include <string>

#include "coordinator/market/pool_orders.h"
#include "rekindle/v1/store.pb.h"

namespace rekindle::coordinator {

class PoolBoard {
 public:
  struct Provided {
    int nodes_ordered = 0;
    int machines_running = 0;
    core::PoolTrouble trouble = core::PoolTrouble::kNone;
  };

  void Set(const v1::PoolRecord& pool) { pools_[pool.name()] = pool; }
  void Ordered(const core::PoolOrder& order) { provided_[order.pool].nodes_ordered = order.nodes; }
  void Reported(const core::PoolReported& report) {
    provided_[report.pool].machines_running = report.running;
    provided_[report.pool].trouble = report.trouble;
  }

  // `pools()` holds the records of pools, and `provided()` holds what was ordered for them and reported of them. The
  // keys of both are names of pools.
  const std::map<std::string, v1::PoolRecord>& pools() const { return pools_; }
  const std::map<std::string, Provided>& provided() const { return provided_; }

 private:
  std::map<std::string, v1::PoolRecord> pools_;
  std::map<std::string, Provided> provided_;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_BOARDS_POOL_BOARD_H_
