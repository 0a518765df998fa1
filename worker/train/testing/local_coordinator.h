// Runs the real core of the coordinator in the process of a test, without a server and a state store.
#ifndef REKINDLE_WORKER_TRAIN_TESTING_LOCAL_COORDINATOR_H_
#define REKINDLE_WORKER_TRAIN_TESTING_LOCAL_COORDINATOR_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "common/sync/mutex.h"
#include "coordinator/core/cluster.h"
#include "worker/contract/spec.h"

namespace rekindle::train {

// Plays the coordinator with its real core, a lock and a clock. The class is thread-safe.
class LocalCoordinator {
 public:
  // The coordinator's time passes `pace` times as fast as real time.
  LocalCoordinator(const TrainSpec& spec, int min_workers, double pace = 1);
  ~LocalCoordinator();

  void Feed(const core::Event& event);
  // Returns the answer to a report, or nothing while the coordinator is away.
  std::optional<v1::TrainerDirective> Answer(const v1::TrainerReport& report);
  // Makes the agent of `node` report that `trainer` runs, or that it was killed.
  void ReportTrainer(const std::string& node, const std::string& trainer, bool running);
  // Adds a node on which the job could run but nothing runs.
  void AddSpare(const std::string& node);
  v1::JobStatus Status();
  // Returns the text that job.json should have, or an empty one while the coordinator is away.
  std::string JobFile();
  // Makes the coordinator forget everything that was not saved, like a process that was killed and started again.
  void Restart();
  // Makes the coordinator go away or come back. While it is away it hears nothing and answers nothing.
  void SetAway(bool away);
  // Waits until `done` returns true for the job's status. Returns false after 120 s.
  bool Await(const std::function<bool(const v1::JobStatus&)>& done);

  static constexpr char kUid[] = "0123456789abcdef";
  static constexpr char kSecret[] = "a secret of the job in this test";

 private:
  double Now() const;
  void StepLocked(const core::Event& event) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void TickLoop(std::stop_token stop);

  const double start_;
  const double pace_;
  common::Mutex mutex_;
  common::CondVar changed_;
  std::unique_ptr<core::Cluster> cluster_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, v1::JobRecord> saved_jobs_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, v1::NodeRecord> saved_nodes_ ABSL_GUARDED_BY(mutex_);
  double wake_at_ ABSL_GUARDED_BY(mutex_) = 0;
  bool away_ ABSL_GUARDED_BY(mutex_) = false;
  int64_t version_ ABSL_GUARDED_BY(mutex_) = 0;
  std::jthread ticker_;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_TESTING_LOCAL_COORDINATOR_H_
