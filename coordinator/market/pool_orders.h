// This file holds what the coordinator orders from pools of nodes and what it hears of them, as plain values.
#ifndef REKINDLE_COORDINATOR_MARKET_POOL_ORDERS_H_
#define REKINDLE_COORDINATOR_MARKET_POOL_ORDERS_H_

#include <string>
#include <vector>

namespace rekindle::core {

// Surplus says what happens to the machines that a pool has beyond the ordered number.
enum class Surplus {
  kEnds,
  // Surplus machines stay for now. The coordinator has just restarted, and the nodes of these machines may be about to
  // register.
  kStays,
  // Where any machine runs that this cluster has not ordered, all machines stay as they are and none is added.
  kIsOthers,
};

// A PoolOrder is the whole desired state of one pool. It holds until there is another order of that pool. Only pools
// with a provider have one.
struct PoolOrder {
  std::string pool;
  int nodes = 0;
  // `release` names the nodes that have to go first where fewer are wanted.
  std::vector<std::string> release;
  // `end` names nodes whose machines have to end however many are wanted, because they never registered.
  std::vector<std::string> end;
  Surplus surplus = Surplus::kEnds;
  // `look_for` names nodes that are silent and on which a job depends. The provider has to find out whether their
  // machines have ended.
  std::vector<std::string> look_for;
  std::string reason;
  bool operator==(const PoolOrder&) const = default;
};

enum class PoolTrouble {
  kNone,
  // The provider has no machines for the pool now, or a quota is used up.
  kNoCapacity,
  // The provider asked the coordinator to wait before it calls again.
  kThrottled,
  // The provider did not answer, denied the call, does not have the pool's group of machines, or failed in another way.
  kFailed,
};

struct PoolMachine {
  // `id` is the provider's own name for the machine.
  std::string id;
  // `node` is the name under which the machine registers. It is empty where the provider does not know it.
  std::string node;
  // `running` is false while the machine is still being made.
  bool running = false;
  // `since` is the time in Unix seconds since when the machine runs. It is 0 where the provider does not say.
  double since = 0;
  bool operator==(const PoolMachine&) const = default;
};

// A PoolReported is what a provider says of a pool, whenever that changes and after each order.
struct PoolReported {
  std::string pool;
  // `listed` is false until the provider has listed the pool's machines for the first time.
  bool listed = true;
  // `running` counts the machines that exist or are being made.
  int running = 0;
  // `machines` lists the machines that `running` counts, sorted by id.
  std::vector<PoolMachine> machines;
  // `not_ours` says that the pool has machines which no order of this process made, and which nobody may touch (see
  // Surplus).
  bool not_ours = false;
  // `ended` names those nodes of `look_for` whose machines have ended, so that nothing runs on them any more. A machine
  // that was only taken out of the pool has not ended.
  std::vector<std::string> ended;
  PoolTrouble trouble = PoolTrouble::kNone;
  // `error` says why the newest order is not fulfilled yet. It is bounded and holds no secrets.
  std::string error;
  // `retry_after` is the time in seconds until the order is tried again.
  double retry_after = 0;
};

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_MARKET_POOL_ORDERS_H_
