// Limits how long this rank may step, and how long its job may spend, without an answer from the coordinator. The rank
// counts from the moment at which it sent the newest request that was answered. The coordinator counts from its answer,
// so its own count never runs out before that of the rank.
//
// The class is thread-safe.
#ifndef REKINDLE_WORKER_TRAIN_CONTROL_LEASE_H_
#define REKINDLE_WORKER_TRAIN_CONTROL_LEASE_H_

#include <limits>

#include "common/sync/mutex.h"
#include "common/time/clock.h"

namespace rekindle::train {

class Lease {
 public:
  // `clock` returns seconds and must go on while the machine sleeps.
  explicit Lease(common::TimeSource clock = common::BootSeconds) : clock_(std::move(clock)) {}

  double Now() const { return clock_(); }

  // Begins the lease of `generation`, which the answer to a request sent at `sent` named as the newest generation. The
  // lease lasts for `seconds`. The value 0 means without end. A generation older than the present one is ignored.
  void Begin(int generation, double seconds, double sent);
  // Renews the lease, because the answer to a request sent at `sent` said that `generation` is still the newest.
  void Renew(int generation, double sent);
  // Notes that the answer to a request sent at `sent` lets the job spend for `seconds` without another answer. An
  // infinite value means without end.
  void Spend(double seconds, double sent);

  // Returns for how many seconds the newest call of Spend() lets the job spend.
  double SpendSeconds() const;
  // Returns whether the job may spend money now.
  bool MaySpend() const;
  // Returns whether a rank of `generation` may step now. It may not if that generation was not begun or if the job may
  // not spend.
  bool Holds(int generation) const;

 private:
  const common::TimeSource clock_;
  mutable common::Mutex mutex_;
  int generation_ ABSL_GUARDED_BY(mutex_) = 0;
  double seconds_ ABSL_GUARDED_BY(mutex_) = 0;
  double sent_ ABSL_GUARDED_BY(mutex_) = 0;
  double spend_seconds_ ABSL_GUARDED_BY(mutex_) = std::numeric_limits<double>::infinity();
  double spend_sent_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_CONTROL_LEASE_H_
