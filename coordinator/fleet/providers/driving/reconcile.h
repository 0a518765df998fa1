// This file decides what to ask a provider next about one pool, and what to report to the core. It is pure, so that a
// test can run through a day of refusals at once.
//
// The decisions are level-triggered: whatever was answered before, only the listed machines count, and they are
// compared with the newest order. The reconciler lists before it orders. It tries again what failed, with growing
// pauses, also after a refusal for lack of capacity.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_DRIVING_RECONCILE_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_DRIVING_RECONCILE_H_

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/time/retry.h"
#include "coordinator/fleet/providers/contract/provider.h"
#include "coordinator/market/pool_orders.h"

namespace rekindle::fleet {

struct ReconcileOptions {
  std::string pool;
  // The pool keeps `min` nodes whatever is ordered, also before the first order.
  int min = 0;
  int max = kMaxMachines;
  // Where fewer nodes than desired run for longer than `start_seconds`, the pool lacks capacity, whatever the provider
  // promised.
  double start_seconds = 300;
  // `poll_seconds` is the time between two listings of a pool that is as ordered. For a pool that is not, that time is
  // a third as long.
  double poll_seconds = 30;
  // `chooses_what_ends` says that the pool's provider ends exactly the machines that a call names
  // (Provider::ChoosesWhatEnds).
  bool chooses_what_ends = true;
  common::RetryPolicy backoff = {.first_seconds = 2, .longest_seconds = 300};
};

// A PoolReconciler is thread-compatible. `now` is in seconds of a clock that does not go back, and `random` is in [0,
// 1).
class PoolReconciler {
 public:
  struct Next {
    // `set` says that the next call to the provider is SetDesired, with `nodes` and `release`. Where it is false, the
    // next call is List.
    bool set = false;
    int nodes = 0;
    std::vector<std::string> release;
    // The next call to the provider must not be made before the time `at`.
    double at = 0;
    // Set compares `order_count` to see whether a newer order has come since next() was called. If so, Set does not
    // report the result.
    int order_count = 0;
    // After List, the caller has to find out whether the machines of those nodes in `look_for` that were not listed
    // have ended. Earlier listings had these nodes.
    std::vector<std::string> look_for;
  };

  PoolReconciler(ReconcileOptions options, double now) : options_(std::move(options)), list_at_(now) {}

  // Replaces the earlier order of the pool.
  void Order(core::PoolOrder order, double now);
  Next next() const;

  // Listed and Set record the result of the call to the provider that `next` asked for. They return what to report
  // where something has changed or an order has been answered. A refusal for lack of capacity is reported with the next
  // listing, because the provider may have granted a part of the order. `listing.ended` must hold the nodes of
  // next.look_for whose machines have ended.
  std::optional<core::PoolReported> Listed(const absl::StatusOr<Listing>& listing, double now, double random);
  std::optional<core::PoolReported> Set(const Next& asked, const absl::Status& status, double now, double random);

 private:
  struct Trouble {
    core::PoolTrouble kind = core::PoolTrouble::kNone;
    std::string error;
  };

  // A Target is what the provider is asked for next.
  struct Target {
    int nodes = 0;
    std::vector<std::string> release;
  };

  int Machines() const;
  bool IsNotOurs() const;
  std::optional<int> Desired() const;
  std::vector<std::string> ToEnd() const;
  std::optional<Target> CurrentTarget() const;
  Trouble Shortage(double now) const;
  double After(const absl::Status& status, int failures, double now, double random);
  std::optional<core::PoolReported> Report(double now);

  const ReconcileOptions options_;
  std::optional<core::PoolOrder> order_;
  // `listing_` is the newest listing of the pool's machines that was received.
  std::optional<Listing> listing_;
  // `known_` holds the nodes that were listed at least once. Any other node may have named this pool by mistake when it
  // registered.
  std::set<std::string> known_;
  int order_count_ = 0;
  // `set_` says that the provider has accepted the newest SetDesired.
  bool set_ = false;
  // `asked_nodes_` is the number of nodes of the last SetDesired that the provider accepted, and `asked_at_` is its
  // time.
  int asked_nodes_ = -1;
  double asked_at_ = 0;
  bool ever_set_ = false;
  // `is_fresh_` says that the listing is newer than the order.
  bool is_fresh_ = false;
  // `answered_` says that a report has followed the newest order.
  bool answered_ = true;
  double list_at_ = 0;
  double listed_at_ = 0;
  double set_at_ = 0;
  // `wait_until_` is the time until which the provider asked its caller to wait. A newer order does not change that
  // time.
  double wait_until_ = 0;
  // `short_since_` is the time since when fewer nodes run than are desired.
  std::optional<double> short_since_;
  // `list_failures_` and `set_failures_` count failures in a row.
  int list_failures_ = 0;
  int set_failures_ = 0;
  Trouble list_trouble_;
  Trouble set_trouble_;
  Trouble shortage_;
  std::optional<core::PoolReported> reported_;
};

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_DRIVING_RECONCILE_H_
