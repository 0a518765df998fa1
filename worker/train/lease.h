// For how long this rank may step, and its job spend, without word from the coordinator. It counts from the moment at
// which it sent the newest request that was answered, so that the coordinator, which counts from its answer, never
// counts less.
//
// Thread-safe.
#ifndef REKINDLE_WORKER_TRAIN_LEASE_H_
#define REKINDLE_WORKER_TRAIN_LEASE_H_

#include <functional>
#include <limits>
#include <mutex>

#include "common/clock.h"

namespace rekindle::train {

class Lease {
 public:
  // `clock`: seconds that go on while the machine sleeps.
  explicit Lease(std::function<double()> clock = common::BootSeconds) : clock_(std::move(clock)) {}

  double Now() const { return clock_(); }

  // The answer to a request sent at `sent` named that generation as the newest, with so many seconds; 0: without end.
  void Begin(int generation, double seconds, double sent);
  // The answer to a request sent at `sent` said that it stands.
  void Renew(int generation, double sent);
  // It said that the job may spend for so many seconds without another answer; infinite: without end.
  void Spend(double seconds, double sent);

  // As it was told last.
  double SpendSeconds() const;
  // May the job spend now?
  bool MaySpend() const;
  // May a rank of that generation step now? Never of one that was not begun, nor when the job may not spend.
  bool Holds(int generation) const;

 private:
  const std::function<double()> clock_;
  mutable std::mutex mutex_;
  int generation_ = 0;
  double seconds_ = 0;
  double sent_ = 0;
  double spend_seconds_ = std::numeric_limits<double>::infinity();
  double spend_sent_ = 0;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_LEASE_H_
