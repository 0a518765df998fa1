// What the coordinator asks of pools of nodes, and what it hears of them. Plain values.
#ifndef REKINDLE_COORDINATOR_CORE_POOL_ORDERS_H_
#define REKINDLE_COORDINATOR_CORE_POOL_ORDERS_H_

#include <string>
#include <vector>

namespace rekindle::core {

// What becomes of machines that are there beyond what is ordered.
enum class Surplus {
  kEnds,
  kStays,     // For now: after a restart their nodes may be about to register.
  kIsOthers,  // Where any machine runs that this cluster has not ordered, all stay as they are, and none is added.
};

// The whole desired state of one pool: it holds until another order of that pool. Only pools with a provider have one.
struct PoolOrder {
  std::string pool;
  int nodes = 0;                     // Desired capacity.
  std::vector<std::string> release;  // Nodes, by name, that are to go first where fewer are wanted.
  std::vector<std::string> end;      // Nodes whose machines are to end however many are wanted: they never registered.
  Surplus surplus = Surplus::kEnds;
  // Nodes of which nothing is heard, and on which a job depends: have their machines ended?
  std::vector<std::string> look_for;
  std::string reason;
  bool operator==(const PoolOrder&) const = default;
};

enum class PoolTrouble {
  kNone,
  kNoCapacity,  // The provider has no machines of that kind now, or a quota is used up.
  kThrottled,   // It asked to come back later.
  kFailed,      // Anything else: no answer, no right, a group that is not there.
};

struct PoolMachine {
  std::string id;        // The provider's own.
  std::string node;      // The name as which it registers; empty: the provider does not know it.
  bool running = false;  // Else it is being made.
  double since = 0;      // Unix seconds since when it runs; 0: the provider does not tell.
  bool operator==(const PoolMachine&) const = default;
};

// What a provider says of a pool, whenever that changes and after each order.
struct PoolReported {
  std::string pool;
  bool listed = true;                 // False: it has not said yet what is there.
  int running = 0;                    // Machines that exist or are being made ...
  std::vector<PoolMachine> machines;  // ... and these they are, by id.
  bool not_ours = false;  // Machines run, no order of this process made them, and none may touch them (Surplus).
  // Of those looked for: whose machines have ended, so that nothing runs on them any more. Being out of the pool alone
  // is not that.
  std::vector<std::string> ended;
  PoolTrouble trouble = PoolTrouble::kNone;
  std::string error;       // Why the newest order is not fulfilled yet; bounded, without secrets.
  double retry_after = 0;  // Seconds until it will be tried again.
};

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_POOL_ORDERS_H_
