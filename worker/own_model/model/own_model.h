// The user's module as a model of the engine. The forward and backward passes run in the model process, which reads the
// weights from the state's own memory and writes gradients into shared memory.
//
// The death of that process costs its micro-batch and the start of another process, and never a step: gradients that
// were handed to the engine stay there, and the new process computes the micro-batch again for those that are missing.
// Only if the new process computes something else than the engine has got already, the call returns ABORTED, so that
// the engine computes the step again.
#ifndef REKINDLE_WORKER_OWN_MODEL_MODEL_OWN_MODEL_H_
#define REKINDLE_WORKER_OWN_MODEL_MODEL_OWN_MODEL_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/contract/batch_source.h"
#include "worker/contract/model_interface.h"
#include "worker/own_model/model/delivery.h"
#include "worker/own_model/model/own_model_parts.h"
#include "worker/own_model/model/process_keeper.h"

namespace rekindle::own_model {

// OwnModel is thread-compatible.
class OwnModel final : public train::Model {
 public:
  // Starts the first model process. Returns the errors of ProcessKeeper::Create().
  static absl::StatusOr<std::unique_ptr<OwnModel>> Create(const OwnModelParts& parts);
  ~OwnModel() override;

  const Description& description() const { return keeper_->description(); }

  const train::ParameterLayout& layout() const override { return description().layout; }
  void BindWeights(float* weights) override { weights_ = weights; }
  // Computes with the values that the task has given to the module, until BindWeights() is called. They are kept until
  // the first Backward() with other ones. Returns the errors of Initialize().
  absl::Status BindInitialWeights();
  // Writes the values that the task has given to the module. They depend on the seed with which the process was
  // started, which has to be the one that is given here. A process that has weights already has its own initial values
  // no more, so it is replaced.
  absl::Status Initialize(uint64_t seed, std::span<float> weights) override;
  absl::StatusOr<train::LossSum> Backward(const train::MicroBatch& batch, const train::RandomKey& key, float loss_scale,
                                          const train::GradientSink& sink) override;
  absl::StatusOr<train::LossSum> Evaluate(const train::MicroBatch& batch) override;
  // Returns a hash of samples of the training data, as they are in the first pass over the data. Returns the errors of
  // Evaluate(). REQUIRES: there are at most kMaxSamples numbers, and all of them are those of samples.
  absl::StatusOr<Hashed> HashSamples(std::span<const int64_t> samples);
  bool IsHeldUp() const override { return keeper_->IsHeldUp(); }
  double LostSeconds() const override { return lost_seconds_; }
  void SetUnwanted(bool unwanted) override { keeper_->SetUnwanted(unwanted); }
  const common::ProcessIdentity& process() const { return keeper_->process(); }
  // Tells the model process which micro-batches come next. A process that takes its place is told, too.
  void Expect(int64_t step, std::span<const Samples> micro_batches) { keeper_->Expect(step, micro_batches); }
  // Starts another process in place of the present one. Returns the errors of ProcessKeeper::Renew().
  absl::Status Renew() { return keeper_->Renew(); }

 private:
  // Something that one process after the other tries, until it succeeds.
  struct Work {
    std::string name;
    // Tries it in the present process. `is_repeated` says that a process before that one has tried it.
    std::function<absl::Status(bool is_repeated)> attempt;
    // With `renew` another process is needed, for this reason.
    std::string renew = "";
  };
  // Holds how far a micro-batch has come. It outlives the process that computes it.
  struct Pass {
    MessageType type = MessageType::kCompute;
    ComputeRequest request;
    // An evaluation delivers nothing.
    std::optional<Delivery> delivery = std::nullopt;
    train::LossSum loss;
  };

  OwnModel(std::unique_ptr<ProcessKeeper> keeper, device::SharedMemories* memories, uint64_t seed)
      : keeper_(std::move(keeper)), memories_(memories), seed_(seed) {}

  // Carries the work out, and replaces the process where it fails.
  absl::Status Carry(const Work& work);
  absl::StatusOr<train::LossSum> CarryPass(Pass& pass);
  // Carries a pass out in the present process. Returns the errors of ProcessKeeper::Ask().
  absl::Status Try(Pass& pass, bool is_repeated);
  absl::Status Request(const Pass& pass);
  // Takes a message of the answer, and returns whether it was the last one.
  absl::StatusOr<bool> Take(const Message& message, Pass& pass);
  // Asks the present process for the initial values. Returns the errors of ProcessKeeper::Ask().
  absl::Status TryInitialize(std::span<float> weights);
  // Asks the present process for a hash of samples. Returns the errors of ProcessKeeper::Ask().
  absl::Status TryHash(std::span<const int64_t> samples, Hashed& hashed);
  void ForgetInitial();

  const std::unique_ptr<ProcessKeeper> keeper_;
  device::SharedMemories* const memories_;
  const uint64_t seed_;
  // `initial_` has the values that the task has given to the module, where they are known.
  std::span<float> initial_;
  const float* weights_ = nullptr;
  uint64_t next_request_ = 1;
  int next_slot_ = 0;
  double lost_seconds_ = 0;
};

}  // namespace rekindle::own_model

#endif  // REKINDLE_WORKER_OWN_MODEL_MODEL_OWN_MODEL_H_
