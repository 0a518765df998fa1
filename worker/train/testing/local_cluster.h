// Engines as threads around the coordinator's real core, over the real host transport: everything but processes.
#ifndef REKINDLE_WORKER_TRAIN_TESTING_LOCAL_CLUSTER_H_
#define REKINDLE_WORKER_TRAIN_TESTING_LOCAL_CLUSTER_H_

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/clock.h"
#include "coordinator/core/cluster.h"
#include "worker/comm/host_communicator.h"
#include "worker/train/engine.h"
#include "worker/train/testing/bigram_model.h"
#include "worker/train/testing/memory_checkpoints.h"

namespace rekindle::train {

// The coordinator: its core, a lock and a clock. Thread-safe.
class LocalCoordinator {
 public:
  explicit LocalCoordinator(const TrainSpec& spec, int min_workers);
  ~LocalCoordinator();

  void Feed(const core::Event& event);
  // The answer to a report; none while away.
  std::optional<v1::TrainerDirective> Answer(const v1::TrainerReport& report);
  // A node that could take part, and on which nothing runs.
  void AddSpare(const std::string& node);
  v1::JobStatus Status();
  // As job.json is to be; empty while away.
  std::string JobFile();
  // Forgets all but what was saved, as a process that was killed and started again.
  void Restart();
  // While away nothing is heard and nothing answered.
  void SetAway(bool away);
  // Until `done` holds after some event, or 120 s have passed (false).
  bool Await(const std::function<bool(const v1::JobStatus&)>& done);

  static constexpr char kUid[] = "0123456789abcdef";
  static constexpr char kSecret[] = "a secret of the job in this test";

 private:
  friend class LocalControl;
  void StepLocked(const core::Event& event);
  void TickLoop(std::stop_token stop);

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::unique_ptr<core::Cluster> cluster_;
  std::map<std::string, v1::JobRecord> saved_jobs_;
  std::map<std::string, v1::NodeRecord> saved_nodes_;
  double wake_at_ = 0;
  bool away_ = false;
  int64_t version_ = 0;
  std::jthread ticker_;
};

// What a test gives a trainer beside its place. All that is named here outlives it.
struct LocalTrainerOptions {
  MemoryCheckpoints* checkpoints = nullptr;  // Null: no store.
  MemoryCheckpoints* elsewhere = nullptr;    // Whatever other store is asked for.
  std::function<double()> clock = common::SteadySeconds;
  std::function<double()> lease_clock = common::BootSeconds;
  std::function<void(int64_t step, int index)> before_backward;
  std::function<BigramModel::Poison(int64_t step, int index)> poison;
  float largest_gradient = 0;  // The last two: BigramModel's.
  int64_t ballast = 0;
  std::function<void()> before_collective;  // On the engine's thread, before it issues each.
  std::string timeline;                     // A file; empty: none.
};

// One trainer: an engine with its own model, listener and line to the coordinator.
class LocalTrainer {
 public:
  LocalTrainer(LocalCoordinator& coordinator, const TrainSpec& spec, const std::string& node, int incarnation,
               LocalTrainerOptions options = {});
  ~LocalTrainer();

  // As kill -9: silent to the coordinator, its connections closed, and its process reported dead by its agent.
  void Kill(bool agent_reports = true);
  // Only the connections break; the trainer lives.
  void BreakConnections();
  const std::string& id() const { return id_; }
  BigramModel& model() { return model_; }

 private:
  class Control;
  class Tracked;
  LocalCoordinator& coordinator_;
  const std::string node_;
  const std::string id_;
  BigramModel model_;
  const std::function<void()> before_collective_;
  ChainBatches batches_;
  MetricsBoard metrics_;
  Timeline timeline_;
  std::unique_ptr<comm::Listener> listener_;
  std::unique_ptr<Control> control_;
  std::mutex mutex_;
  comm::Communicator* communicator_ = nullptr;  // The living one.
  std::unique_ptr<checkpoint::CheckpointClient> checkpoints_;
  std::unique_ptr<Engine> engine_;
  std::thread thread_;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_TESTING_LOCAL_CLUSTER_H_
