// Runs an engine as a thread beside a LocalCoordinator and over the real host transport. Unlike in production, trainers
// and the coordinator share one process.
#ifndef REKINDLE_WORKER_TRAIN_TESTING_LOCAL_TRAINER_H_
#define REKINDLE_WORKER_TRAIN_TESTING_LOCAL_TRAINER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "common/sync/mutex.h"
#include "common/time/clock.h"
#include "worker/comm/connect/listener.h"
#include "worker/comm/contract/communicator.h"
#include "worker/device/contract/device.h"
#include "worker/train/engine/engine.h"
#include "worker/train/testing/bigram_model.h"
#include "worker/train/testing/local_coordinator.h"
#include "worker/train/testing/memory_checkpoints.h"

namespace rekindle::train {

// LocalTrainerOptions holds what a test gives a trainer in addition to its node. Everything named here must outlive the
// trainer.
struct LocalTrainerOptions {
  // `checkpoints` is the job's store. It is null if the job has none.
  MemoryCheckpoints* checkpoints = nullptr;
  // `elsewhere` is the store that the trainer gets when it opens another store than `checkpoints`.
  MemoryCheckpoints* elsewhere = nullptr;
  common::TimeSource clock = common::SteadySeconds;
  common::TimeSource lease_clock = common::BootSeconds;
  std::function<void(int64_t step, int index)> before_backward;
  // `before_read` is passed to the ChainBatches.
  std::function<void(int64_t step)> before_read;
  std::function<BigramModel::Poison(int64_t step, int index)> poison;
  std::function<bool(int64_t step, int index, int parameter)> is_unused;
  std::function<absl::Status(int64_t step, int index)> fails;
  std::function<absl::Status()> before_initialize;
  // The options from `poison` to `largest_gradient` are passed to the BigramModel.
  float largest_gradient = 0;
  int64_t ballast = 0;
  // `before_collective` is called on the engine's thread before each collective.
  std::function<void()> before_collective;
  // `make_device` makes the device that holds the trainer's state. If it is null, MakeTestDevice() does.
  std::function<std::unique_ptr<device::Device>()> make_device;
  // With `nccl` the trainer reports a GPU with that NCCL. Without it, TestNccl() decides.
  device::NcclParts nccl = {};
  // `timeline` names the file to which the trainer writes its timeline. If it is empty, the trainer writes none.
  std::string timeline;
};

// Runs one trainer: an engine with its own model, its own listener, and its own connection to the coordinator.
class LocalTrainer {
 public:
  LocalTrainer(LocalCoordinator& coordinator, const TrainSpec& spec, const std::string& node, int incarnation,
               LocalTrainerOptions options = {});
  ~LocalTrainer();

  // Acts like kill -9: the coordinator hears nothing more from the trainer, and its connections close. If
  // `agent_reports` is true, the agent reports the process dead.
  void Kill(bool agent_reports = true);
  // Breaks only the connections of the trainer, which lives on.
  void BreakConnections();
  const std::string& id() const { return id_; }
  BigramModel& model() { return model_; }

 private:
  class Control;
  class Tracked;
  LocalCoordinator& coordinator_;
  const std::string node_;
  const std::string id_;
  const std::unique_ptr<device::Device> device_;
  BigramModel model_;
  const std::function<void()> before_collective_;
  ChainBatches batches_;
  MetricsBoard metrics_;
  Timeline timeline_;
  std::unique_ptr<comm::Listener> listener_;
  std::unique_ptr<Control> control_;
  common::Mutex mutex_;
  // `communicator_` is the trainer's present communicator. It is null if there is none.
  comm::Communicator* communicator_ ABSL_GUARDED_BY(mutex_) = nullptr;
  std::unique_ptr<checkpoint::CheckpointClient> checkpoints_;
  std::unique_ptr<Engine> engine_;
  std::thread thread_;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_TESTING_LOCAL_TRAINER_H_
