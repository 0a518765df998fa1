// This file has a fixture for tests: the reconciler of one pool, and a clock that is moved to the time of the
// reconciler's next call.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_TESTING_RECONCILE_TESTING_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_TESTING_RECONCILE_TESTING_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/fleet/providers/driving/reconcile.h"

namespace rekindle::fleet {

inline Listing Has(int running, std::optional<int> desired = std::nullopt) {
  Listing listing{.desired = desired};
  for (int i = 0; i < running; ++i) {
    const std::string name = "n" + std::to_string(i);
    listing.machines.push_back({.id = "i-" + name, .node = name});
  }
  return listing;
}

inline std::vector<std::string> Names(const core::PoolReported& report) {
  std::vector<std::string> names;
  for (const core::PoolMachine& machine : report.machines) names.push_back(machine.node);
  return names;
}

class ReconcileTest : public testing::Test {
 protected:
  static core::PoolOrder Want(int nodes, std::vector<std::string> release = {}) {
    return {.pool = "p", .nodes = nodes, .release = std::move(release)};
  }
  std::optional<core::PoolReported> Listed(const absl::StatusOr<Listing>& listing) {
    return pool_.Listed(listing, now_, 0.5);
  }
  std::optional<core::PoolReported> Set(const absl::Status& status) {
    return pool_.Set(pool_.next(), status, now_, 0.5);
  }
  // Returns the next call that the reconciler wants to make to the provider, and moves the clock to the time of that
  // call.
  PoolReconciler::Next Due() {
    const PoolReconciler::Next next = pool_.next();
    now_ = std::max(now_, next.at);
    return next;
  }

  double now_ = 1000;
  PoolReconciler pool_{{.pool = "p", .max = 10, .start_seconds = 300, .poll_seconds = 30}, now_};
};

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_TESTING_RECONCILE_TESTING_H_
