// What users may see of pools that take orders: only what is durable. And what is asked of their providers, and what
// these say. Thread-compatible: the loop's thread owns it.
#ifndef REKINDLE_COORDINATOR_SERVER_POOL_BOARD_H_
#define REKINDLE_COORDINATOR_SERVER_POOL_BOARD_H_

#include <map>
#include <string>

#include "coordinator/core/pool_orders.h"
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

  const std::map<std::string, v1::PoolRecord>& pools() const { return pools_; }  // By name, as the next.
  const std::map<std::string, Provided>& provided() const { return provided_; }

 private:
  std::map<std::string, v1::PoolRecord> pools_;
  std::map<std::string, Provided> provided_;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_POOL_BOARD_H_
