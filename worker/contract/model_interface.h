// Declares the narrow interface between the engine and a model. It does not use torch, so the engine, its tests and the
// simulator work without LibTorch.
#ifndef REKINDLE_WORKER_CONTRACT_MODEL_INTERFACE_H_
#define REKINDLE_WORKER_CONTRACT_MODEL_INTERFACE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/table/kernel_table.h"

namespace rekindle::train {

// Says what becomes of a buffer that the forward passes of a step change: the mean of the micro-batches' values, the
// value that the first micro-batch of the step gives it, or nothing.
enum class BufferRule { kMean, kFirst, kFrozen };

// Describes one named parameter inside the flat memory. `offset` and `size` count elements (float32).
struct ParameterInfo {
  std::string name;
  std::vector<int64_t> shape;
  int64_t offset = 0;
  int64_t size = 0;
  // `decay` says whether weight decay applies, as it does to matrices.
  bool decay = false;
  // `rate` multiplies the learning rate of each step for this parameter. `own_weight_decay` takes the place of `decay`
  // and of the job's weight decay.
  double rate = 1;
  std::optional<double> own_weight_decay = std::nullopt;
  // A parameter whose `momentum` is above 0 is a buffer, such as the running statistics of batch norm. A buffer is not
  // trained. Backward delivers the micro-batch's statistic for it, and `momentum` is the share by which the buffer
  // moves towards the mean of these statistics over the step (see buffers.h).
  double momentum = 0;
  // `rule` is used for a buffer only. With kFirst only micro-batch 0 delivers a statistic, and with kFrozen none does.
  BufferRule rule = BufferRule::kMean;
  // `must_agree` says that all micro-batches of a step have to give the buffer the same values, because whole numbers
  // have no mean (LossSum::whole_buffers).
  bool must_agree = false;

  bool is_buffer() const { return momentum > 0; }
};

// Says where each parameter lies in the flat memory of weights, moments and gradients. Parameters are packed in order
// without gaps, and buffers come after all others. Everything that carries weights (checkpoints, joiners, digests)
// therefore carries the buffers too.
struct ParameterLayout {
  std::vector<ParameterInfo> parameters;
  int64_t total = 0;  // `total` counts the elements of the flat memory.
  // `late_buffers` says that a backward delivers the buffers after all gradients. They are then exchanged last, so that
  // they do not hold up the gradients.
  bool late_buffers = false;
};

// Names a sample of a step that two ranks read and compare. `place` is its number in the run, as MicroBatch::first.
// Without one, both are -1.
struct CheckedSample {
  int64_t place = -1;
  int64_t sample = -1;
};

// Holds the samples of one forward and backward pass, row after row. A row is a window of tokens, or features with one
// target.
struct MicroBatch {
  // `index` is the number of this micro-batch in the step's list, from 0 to M - 1.
  int index = 0;
  // `samples` has the numbers of the samples in the data. `first` is the number of the first one in the run, from which
  // follows in which pass over the data each of them is read.
  std::vector<int64_t> samples = {};
  int64_t first = 0;
  // The pass also hashes `checked`, which need not be one of `samples`.
  CheckedSample checked = {};
  // `sequences` is the number of samples of the micro-batch.
  int sequences = 0;
  int context = 0;
  // `tokens` holds sequences * (context + 1) token ids.
  std::vector<uint16_t> tokens;
  // `features` holds `sequences` rows of as many values as the model takes.
  std::vector<float> features;
  // `targets` has one value a sample, which is the number of a class or, for a regression, any number.
  std::vector<float> targets;
};

// Holds the key of the generators for dropout. With the same key a recomputed micro-batch repeats its masks, on any
// rank.
struct RandomKey {
  uint64_t seed = 0;
  int64_t step = 0;
};

struct LossSum {
  // `sum` is the loss in nats (or in squared errors), summed over tokens or samples. It may be NaN or infinite.
  double sum = 0;
  // `count` is the number of tokens or samples in `sum`.
  int64_t count = 0;
  // `whole_buffers` is a hash of the values that the micro-batch gives to buffers of whole numbers. All micro-batches
  // of a step must have the same one. It is 0 for a model without such buffers.
  uint64_t whole_buffers = 0;
  // `checked_sample` is a hash of MicroBatch::checked, or 0 if there is none.
  uint64_t checked_sample = 0;
  // `on_device` is not null if the sum is not known yet, because the device still computes it. It will be there, in the
  // memory of the device, when the work that was queued before has been done, and stays until the model's next pass.
  const float* on_device = nullptr;
};

// Receives a parameter's gradient of the *summed* loss of one micro-batch, in the order in which backward produces the
// gradients. For a buffer it receives the statistic. It is called once per parameter and micro-batch, before Backward
// returns, by one thread at a time. It is not called for a parameter that had no part in the loss. A parameter without
// a gradient in any micro-batch of a step is not touched by the optimizer in that step, as `grad is None` in PyTorch.
// The span lies in the memory of the model's device. It is valid only during the call, and on a GPU for the work that
// the call puts into the model's queue.
using GradientSink = std::function<void(int parameter, std::span<const float> gradient)>;

// Declares all that the engine knows of a model, so that a model may also be a program that was exported from
// elsewhere. The model takes flat named memory and returns the summed loss and the gradients. A forward pass never
// writes the memory of the weights or buffers, so it may be repeated. The class is thread-compatible: only one thread
// at a time may use a model.
class Model {
 public:
  virtual ~Model() = default;
  virtual const ParameterLayout& layout() const = 0;
  // Makes the model's parameters views of `weights`, which must have layout().total floats, be 64-byte aligned, and lie
  // in the memory of the device on which the model computes. This memory must outlive the model or stay until the next
  // call of BindWeights().
  virtual void BindWeights(float* weights) = 0;
  // Tells a model that computes on a GPU on which queue (a cudaStream_t) the passes from now on do their work, and by
  // which kernels, which must outlive the model. A model that computes on the processor ignores both.
  virtual void UseQueue(void* /*queue*/, const RekindleKernels& /*kernels*/) {}
  // Writes the initial values of the weights, which depend only on the seed and the parameters' names. A model of the
  // user's own also returns errors, those of Evaluate().
  virtual absl::Status Initialize(uint64_t seed, std::span<float> weights) = 0;
  // Runs forward and backward. The sink receives gradients and buffer statistics multiplied by `loss_scale`, a power of
  // two. The returned loss is not scaled. If it is not finite, the gradients are worthless. On a GPU the function
  // queues the passes without waiting for them. Returns INVALID_ARGUMENT for a batch that does not fit this model's
  // shape or vocabulary. Returns RESOURCE_EXHAUSTED or throws std::bad_alloc when memory runs out. The sink may then
  // have received a part.
  virtual absl::StatusOr<LossSum> Backward(const MicroBatch& batch, const RandomKey& key, float loss_scale,
                                           const GradientSink& sink) = 0;
  // Runs the forward pass of an evaluation: without dropout, and with batch norm reading its buffers. Waits for the
  // loss.
  virtual absl::StatusOr<LossSum> Evaluate(const MicroBatch& batch) = 0;

  // Returns whether a call is held up by something that the model watches and ends by itself, such as a process that
  // computes for it and has died or answers late. Other ranks then go on waiting for this one. It may be called by any
  // thread.
  virtual bool IsHeldUp() const { return false; }
  // Returns the seconds that all calls so far have lost to what was not their work: passes that have failed, and the
  // time until they could be tried again. It must not be called during another call.
  virtual double LostSeconds() const { return 0; }
  // Says whether what the present call computes is of no use any more. A call that waits for something to be replaced
  // then returns CANCELLED soon. It may be called by any thread.
  virtual void SetUnwanted(bool /*unwanted*/) {}
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_CONTRACT_MODEL_INTERFACE_H_
