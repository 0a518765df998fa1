// Runs a trainer: it joins the generations that the directive names, computes and reduces their steps, and survives
// their end.
//
// Only the thread of `Run` computes. A generation ends by an error of its communicator, by an agreed yield at a step
// boundary, or by the last step. Between generations the engine holds its state and waits. Without a newer membership
// it never steps. Everything outside is injected, so that tests run the same engine over in-process links.
#ifndef REKINDLE_WORKER_TRAIN_ENGINE_ENGINE_H_
#define REKINDLE_WORKER_TRAIN_ENGINE_ENGINE_H_

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checkpoint/client/client.h"
#include "common/time/clock.h"
#include "worker/comm/contract/communicator.h"
#include "worker/contract/batch_source.h"
#include "worker/contract/model_interface.h"
#include "worker/contract/spec.h"
#include "worker/device/contract/device.h"
#include "worker/device/exchange/exchange_maker.h"
#include "worker/train/control/control_plane.h"
#include "worker/train/control/reporter.h"
#include "worker/train/engine/generation_parts.h"
#include "worker/train/engine/generation_run.h"
#include "worker/train/engine/generation_watch.h"
#include "worker/train/engine/teller.h"
#include "worker/train/engine/timeline.h"
#include "worker/train/restore/checkpoint_search.h"
#include "worker/train/save/final_store.h"
#include "worker/train/save/saver.h"
#include "worker/train/state/placement.h"
#include "worker/train/state/train_state.h"
#include "worker/train/step/device_model.h"
#include "worker/train/step/judgement.h"
#include "worker/train/step/step.h"
#include "worker/train/step/trainer_metrics.h"

namespace rekindle::train {

// An OnCommunicatorError takes the error of a communicator. It is called from any thread, at most once per
// communicator.
using OnCommunicatorError = std::function<void(const absl::Status&, const std::vector<comm::Accusation>&)>;

// Connects rank `rank` to the other members of the generation. The call polls `cancelled`, which says whether to give
// up, and puts the members that it could not reach in `accused`.
using Connect = std::function<absl::StatusOr<std::unique_ptr<comm::Communicator>>(
    const Membership& membership, int rank, const comm::Deadlines& deadlines, OnCommunicatorError on_error,
    const std::function<bool()>& cancelled, std::vector<comm::Accusation>* accused)>;

struct EngineOptions {
  // `trainer` is this trainer's own identity.
  std::string trainer;
  TrainSpec spec;
  // `spec_digest` is the digest of the resolved spec. A checkpoint with another digest is not restored.
  std::string spec_digest;
  checkpoint::Retention retention{.keep_last = 2};
  std::string data_fingerprint;
  std::string probe_digest;
  double unigram_bits_per_byte = 0;
  // `micro_batch_reason` is set only if this process searched for `spec.micro_batch` itself.
  std::string micro_batch_reason;
  double micro_batch_search_seconds = 0;
  // `device` describes the GPU on which this trainer computes. It is set where EngineParts::nccl is.
  std::optional<ReportedDevice> device;
};

// All parts must outlive the engine. `checkpoints` is null if the job has no store.
struct EngineParts {
  // The state lies in the memory of `device`, and the steps run there.
  device::Device& device;
  Model& model;
  BatchSource& batches;
  ControlPlane& control;
  Connect connect;
  checkpoint::CheckpointClient* checkpoints = nullptr;
  // `open_store` opens another store than the job's own for the final checkpoint. It is null if the job can have no
  // other store.
  OpenStore open_store = nullptr;
  // `load_weights` replaces the initial weights of a job that starts. It is null if the seed decides them. Its error
  // INVALID_ARGUMENT means that no trainer can ever load these weights.
  std::function<absl::Status(std::span<float>)> load_weights = nullptr;
  // `resize_batches` makes `batches`, the source of the job's data, deliver micro-batches of another size. It is null
  // if the size never changes.
  std::function<absl::Status(int micro_batch)> resize_batches = nullptr;
  // `nccl` is what the rank needs in generations that exchange by NCCL.
  device::NcclParts nccl = {};
  // `device_failed` is called when the device has failed for this process, and the state in it is lost. It ends the
  // process. If it is null, the engine ends with the error.
  std::function<void(const device::Health&)> device_failed = nullptr;
  MetricsBoard& metrics;
  Timeline& timeline;
  // `clock` returns seconds. It is used to measure steps and checkpoints and to decide when a checkpoint is due. No
  // trained number depends on it.
  common::TimeSource clock = common::SteadySeconds;
};

class Engine {
 public:
  Engine(EngineOptions options, EngineParts parts);
  ~Engine();

  // Takes all that the rank needs of its device. It must be called once, before Run(). Returns RESOURCE_EXHAUSTED, with
  // the bytes, if the device has no room.
  absl::Status Allocate();
  // Trains until the directive says EXIT or Stop() is called, and returns OK then. If this trainer cannot go on,
  // returns an error, which has been reported already.
  absl::Status Run();
  // Returns whether the device may be busy for ever (see ExchangeMaker).
  bool HasLeftNccl() const { return exchanges_.HasLeftNccl(); }
  // Makes `Run` return as soon as it can. It may be called from any thread.
  void Stop();
  // Reports what the model does beside its work. An empty text takes the note back. It may be called from any thread.
  void Note(const std::string& text);

 private:
  // Waits for a generation that has this trainer as a member. Returns false if the trainer has to end.
  bool AwaitMembership(Membership* membership);
  void AwaitStore();
  void LeaveOut(const Directive& directive);

  void RunGeneration(const Membership& membership);
  absl::Status TakeMicroBatch(int micro_batch);
  // Returns whether the device has failed. Then the engine has failed, too.
  bool DeviceHasFailed();
  // Reports that the generation has ended for this rank.
  void Interrupted(const Membership& membership, const absl::Status& status,
                   const std::vector<comm::Accusation>& accusations);
  absl::StatusOr<std::unique_ptr<comm::Communicator>> ConnectTo(const Membership& membership, int rank);
  absl::Status WatchedRun(const Membership& membership, device::Exchange& exchange, GenerationRun& run);
  GenerationParts PartsOfGeneration();

  absl::Status TakeState(const Membership& membership, device::Exchange& exchange, const GenerationRun& run);
  absl::Status StartAfresh();
  absl::Status RestoreCheckpoint(const Membership& membership);

  void Fail(const absl::Status& status);
  bool Superseded(int generation) const;

  EngineOptions options_;
  EngineParts parts_;
  std::atomic<bool> stopping_{false};
  Reporter reporter_;
  GenerationWatch watch_;
  Teller teller_;
  DeviceModel model_;
  device::ExchangeMaker exchanges_;
  const std::unique_ptr<Placement> placement_;
  TrainState state_;
  bool has_state_ = false;
  const StepJudge judge_;
  StepRunner steps_;
  RankSpeed speed_;
  Saver saver_;
  // `search_` looks for checkpoints in the job's store. It is null if the job has no store.
  std::unique_ptr<CheckpointSearch> search_;
  // `generation_` is the newest generation that the engine has been in.
  int generation_ = 0;
  absl::Status failure_;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_ENGINE_ENGINE_H_
