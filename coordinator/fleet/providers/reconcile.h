// What to ask a provider next about one pool, and what to report: pure, so that a day of refusals is tested at once.
//
// Level-triggered: whatever was answered before, what is listed counts, and is compared with the newest order. It lists
// before it orders; what failed is tried again with growing pauses, a refusal for want of capacity included.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_RECONCILE_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_RECONCILE_H_

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/retry.h"
#include "coordinator/core/pool_orders.h"
#include "coordinator/fleet/providers/provider.h"

namespace rekindle::fleet {

struct ReconcileOptions {
  std::string pool;
  int min = 0;  // Kept whatever is ordered, and before anything is.
  int max = kMaxMachines;
  double start_seconds = 300;     // Fewer running for longer than this are a want of capacity, whatever was promised.
  double poll_seconds = 30;       // Between listings when all is as ordered; a third of it while it is not.
  bool chooses_what_ends = true;  // See Provider.
  common::RetryPolicy backoff = {.first_seconds = 2, .longest_seconds = 300};
};

// Thread-compatible. `now`: seconds of a clock that does not go back; `random` is in [0, 1).
class PoolReconciler {
 public:
  struct Next {
    bool set = false;  // SetDesired with these; else List.
    int nodes = 0;
    std::vector<std::string> release;
    double at = 0;        // Not before.
    int order_count = 0;  // For Set: what was asked for may be out of date by then.
    // With List: whether the machines of those that it does not tell of have ended. It told of them before.
    std::vector<std::string> look_for;
  };

  PoolReconciler(ReconcileOptions options, double now) : options_(std::move(options)), list_at_(now) {}

  // Replaces the order before.
  void Order(core::PoolOrder order, double now);
  Next next() const;

  // How `next` went; what to report, where something has changed or an order has been answered. A refusal for want of
  // capacity is reported with the next listing: a part may have been granted.
  // `listing` holds those of next.look_for whose machines have ended.
  std::optional<core::PoolReported> Listed(const absl::StatusOr<Listing>& listing, double now, double random);
  std::optional<core::PoolReported> Set(const Next& asked, const absl::Status& status, double now, double random);

 private:
  struct Trouble {
    core::PoolTrouble kind = core::PoolTrouble::kNone;
    std::string error;
  };

  // What the provider is asked for next.
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
  std::optional<Listing> listing_;  // The newest that was heard.
  std::set<std::string> known_;     // Nodes that were listed once. Others may have the pool's name by mistake.
  int order_count_ = 0;
  bool set_ = false;      // The provider has taken what it was asked for.
  int asked_nodes_ = -1;  // What it took last ...
  double asked_at_ = 0;   // ... and when.
  bool ever_set_ = false;
  bool is_fresh_ = false;  // The listing is newer than the order.
  bool answered_ = true;   // A report has followed the newest order.
  double list_at_ = 0;
  double listed_at_ = 0;
  double set_at_ = 0;
  double wait_until_ = 0;              // The provider asked for it: a newer order changes nothing about it.
  std::optional<double> short_since_;  // Since when fewer run than are desired.
  int list_failures_ = 0;              // In a row.
  int set_failures_ = 0;
  Trouble list_trouble_;
  Trouble set_trouble_;
  Trouble shortage_;
  std::optional<core::PoolReported> reported_;
};

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_RECONCILE_H_
