// Plays a coordinator that decides nothing: it sends the directives that a test gives it, and keeps the reports.
#ifndef REKINDLE_WORKER_TRAIN_TESTING_FAKE_CONTROL_H_
#define REKINDLE_WORKER_TRAIN_TESTING_FAKE_CONTROL_H_

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "common/sync/mutex.h"
#include "worker/train/control/control_plane.h"

namespace rekindle::train {

// FakeControl is thread-safe.
class FakeControl final : public ControlPlane {
 public:
  void Publish(const Report& report, bool) override {
    const common::MutexLock lock(mutex_);
    report_ = report;
    ++reports_;
    changed_.NotifyAll();
  }
  void AddLoss(const StepLoss& loss) override {
    const common::MutexLock lock(mutex_);
    losses_.push_back(loss);
  }
  const DirectiveBox& directives() const override { return directives_; }
  const Lease& lease() const override { return lease_; }
  checkpoint::JobFile JobFileNow() override { return {.text = "file of the job", .required = true}; }
  std::string JobFileOfEnd(double) override { return "file of the end"; }

  void Say(Directive directive) { directives_.Put(std::move(directive)); }
  // Begins a lease without end for `generation`, so that the ranks of this generation may make steps.
  void Grant(int generation) { lease_.Begin(generation, 0, 0); }

  Report report() const {
    const common::MutexLock lock(mutex_);
    return report_;
  }
  // Returns how often a report was published.
  int reports() const {
    const common::MutexLock lock(mutex_);
    return reports_;
  }
  std::vector<StepLoss> losses() const {
    const common::MutexLock lock(mutex_);
    return losses_;
  }
  // Waits until the newest report is one for which `fits` returns true. Returns false after 120 s.
  bool Await(const std::function<bool(const Report&)>& fits) const {
    common::MutexLock lock(mutex_);
    return changed_.WaitFor(lock, std::chrono::seconds(120),
                            [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return fits(report_); });
  }

 private:
  DirectiveBox directives_;
  Lease lease_;
  mutable common::Mutex mutex_;
  mutable common::CondVar changed_;
  Report report_ ABSL_GUARDED_BY(mutex_);
  int reports_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<StepLoss> losses_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_TESTING_FAKE_CONTROL_H_
