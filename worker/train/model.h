// The narrow interface between the engine and a model. No torch here: the engine, its tests and the
// simulator use it without LibTorch.
#ifndef REKINDLE_WORKER_TRAIN_MODEL_H_
#define REKINDLE_WORKER_TRAIN_MODEL_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace rekindle::train {

// One named parameter inside the flat memory. `offset` and `size` count elements (float32).
struct ParameterInfo {
  std::string name;
  std::vector<int64_t> shape;
  int64_t offset = 0;
  int64_t size = 0;
  bool decay = false;  // Weight decay applies (matrices).
  // Above 0: a buffer, as batch norm's running statistics. Not trained: what Backward delivers for it is the
  // micro-batch's statistic, and by this share the buffer moves towards their mean over the step (buffers.h).
  double momentum = 0;

  bool is_buffer() const { return momentum > 0; }
};

// Where each parameter lies in the flat memory of weights, moments and gradients. Parameters are packed in order
// without gaps, buffers after all others. So whatever carries weights (checkpoints, joiners, digests) carries buffers.
struct ParameterLayout {
  std::vector<ParameterInfo> parameters;
  int64_t total = 0;  // Elements.
};

// The samples of one forward and backward, row after row: windows of tokens, or features with a target each.
struct MicroBatch {
  int index = 0;      // Number in the step's list, 0..M-1.
  int sequences = 0;  // Samples.
  int context = 0;
  std::vector<uint16_t> tokens;  // sequences * (context + 1) ids.
  std::vector<float> features;   // sequences * as many as the model takes.
  std::vector<float> targets;    // sequences: a class's number, or any number for a regression.
};

// Keys the generators of dropout: a recomputed micro-batch repeats its masks, on any rank.
struct RandomKey {
  uint64_t seed = 0;
  int64_t step = 0;
};

struct LossSum {
  double sum = 0;     // Nats (or squared errors), summed over tokens or samples.
  int64_t count = 0;  // Of these.
};

// Receives a parameter's gradient of the *summed* loss of one micro-batch, in the order backward makes them; of a
// buffer its statistic. Called once a parameter and micro-batch, on the thread that called Backward. The span dies with
// the call.
using GradientSink = std::function<void(int parameter, std::span<const float> gradient)>;

// All that the engine knows of a model, so that a program exported from elsewhere can be one: flat named memory in,
// summed loss and gradients out. A forward never writes the weights' memory, buffers included: it may be repeated.
// Thread-compatible: one thread at a time.
class Model {
 public:
  virtual ~Model() = default;
  virtual const ParameterLayout& layout() const = 0;
  // Parameters become views of `weights` (layout().total floats, 64-byte aligned), which must outlive the model
  // or the next call.
  virtual void BindWeights(float* weights) = 0;
  // They have been written since: what a model keeps of them elsewhere (on a GPU) is made anew. To be called before the
  // first forward after a write.
  virtual void TakeWeights() = 0;
  // Writes the initial values, a function of (seed, parameter name) only.
  virtual void Initialize(uint64_t seed, std::span<float> weights) const = 0;
  // Forward and backward. The sink gets gradients, and a buffer's statistic, times `loss_scale`, a power of two; the
  // loss returned has none of it. OUT_OF_RANGE names the micro-batch when the loss is not finite; then the sink has
  // got nothing. INVALID_ARGUMENT: a batch that is not of this model's shape or vocabulary. RESOURCE_EXHAUSTED, or
  // std::bad_alloc: out of memory, and the sink may have got a part.
  virtual absl::StatusOr<LossSum> Backward(const MicroBatch& batch, const RandomKey& key, float loss_scale,
                                           const GradientSink& sink) = 0;
  // Forward without dropout; batch norm by its buffers.
  virtual absl::StatusOr<LossSum> Evaluate(const MicroBatch& batch) = 0;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_MODEL_H_
