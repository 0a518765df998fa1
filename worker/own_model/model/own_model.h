// The user's module as a model of the engine. The forward and backward passes run in the model process, which reads the
// weights from the state's own memory and writes gradients into shared memory.
//
// The death of that process costs its micro-batch and the start of another process, and never a step: gradients that
// were handed to the engine stay there, and the new process computes the micro-batch again for those that are missing.
#ifndef REKINDLE_WORKER_OWN_MODEL_MODEL_OWN_MODEL_H_
#define REKINDLE_WORKER_OWN_MODEL_MODEL_OWN_MODEL_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/contract/batch_source.h"
#include "worker/contract/model_interface.h"
#include "worker/device/host/shared_memories.h"
#include "worker/own_model/child/model_process.h"
#include "worker/own_model/model/gradient_slots.h"

namespace rekindle::own_model {

struct OwnModelParts {
  ModelProcessOptions process;
  FrozenLimits limits;
  // `weights` has the memory in which the state's weights lie. It must outlive the model.
  const device::SharedMemories* weights = nullptr;
  // `note` is told what the model process does, and why it was replaced. It may be called by the thread that uses the
  // model only.
  std::function<void(const std::string& text)> note;
  // `go_on` returns false if the trainer has to end. Calls of the model then return CANCELLED soon.
  std::function<bool()> go_on;
};

// OwnModel is thread-compatible.
class OwnModel final : public train::Model {
 public:
  // Starts the first model process. Returns the errors of ModelProcess::Start().
  static absl::StatusOr<std::unique_ptr<OwnModel>> Create(OwnModelParts parts);

  const Description& description() const { return description_; }

  const train::ParameterLayout& layout() const override { return description_.layout; }
  void BindWeights(float* weights) override { weights_ = weights; }
  // Writes the values that the task has given to the module. They depend on the seed with which the process was
  // started, which has to be the one that is given here.
  void Initialize(uint64_t seed, std::span<float> weights) const override;
  absl::StatusOr<train::LossSum> Backward(const train::MicroBatch& batch, const train::RandomKey& key, float loss_scale,
                                          const train::GradientSink& sink) override;
  absl::StatusOr<train::LossSum> Evaluate(const train::MicroBatch& batch) override;
  const common::ProcessIdentity& process() const { return process_->identity(); }
  // Tells the model process which micro-batches come next.
  void Expect(int64_t step, std::span<const Samples> micro_batches);

 private:
  // Holds how far a micro-batch has come. It outlives the process that computes it.
  struct Pass {
    MessageType type = MessageType::kCompute;
    ComputeRequest request;
    const train::GradientSink* sink = nullptr;
    // `delivered` says which parameters were handed to the sink.
    std::vector<bool> delivered;
  };

  OwnModel(OwnModelParts parts, std::unique_ptr<ModelProcess> process, GradientSlots slots);

  // Carries a pass out, and replaces the process where it fails. Returns the loss.
  absl::StatusOr<train::LossSum> Carry(Pass& pass);
  // Carries a pass out in the present process. Returns UNAVAILABLE if the process has ended or is frozen, and otherwise
  // what the process says is wrong.
  absl::StatusOr<train::LossSum> Try(Pass& pass);
  absl::StatusOr<std::optional<train::LossSum>> Take(const Message& message, Pass& pass);
  absl::Status Deliver(const Gradients& gradients, Pass& pass);
  absl::Status Request(const Pass& pass);
  // Returns UNAVAILABLE if the process is frozen, and asks it for a sign of life otherwise.
  absl::Status LookAtProcess();
  absl::Status ShareWeights();
  // Starts another process in place of one that has ended. Returns UNAVAILABLE if the new one ends at once, too, and
  // INVALID_ARGUMENT if its module is another one.
  absl::Status Replace(const std::string& why);

  const OwnModelParts parts_;
  Description description_;
  mutable std::unique_ptr<ModelProcess> process_;
  GradientSlots slots_;
  FrozenWatch watch_;
  const float* weights_ = nullptr;
  // `shared_` is what the process knows of the weights: the number of their memory, and their place in it.
  std::optional<std::pair<uint64_t, uint64_t>> shared_;
  uint64_t next_request_ = 1;
  int next_slot_ = 0;
  double pinged_at_ = 0;
};

}  // namespace rekindle::own_model

#endif  // REKINDLE_WORKER_OWN_MODEL_MODEL_OWN_MODEL_H_
