// What the GPTs share: a pre-norm transformer decoder with tied embeddings over windows of tokens. A model on it is its
// layout, its initial values and one function that makes a block. Includes ATen.
#ifndef REKINDLE_WORKER_MODELS_DECODER_H_
#define REKINDLE_WORKER_MODELS_DECODER_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "worker/models/aten_model.h"
#include "worker/models/registry.h"

namespace rekindle::models {

// The layout begins with the embeddings of tokens and positions; then come the blocks, each of as many parameters; then
// weight and bias of the last norm.
class Decoder : public AtenModel {
 public:
  Decoder(train::ParameterLayout layout, const ModelSpec& spec, int vocabulary, int block_parameters)
      : AtenModel(std::move(layout), spec), spec_(spec), vocabulary_(vocabulary), block_parameters_(block_parameters) {}

 protected:
  static constexpr double kDeviation = 0.02;  // Of initial values.
  // Where dropout is applied; part of the generator's key, so these numbers never change.
  static constexpr int kEmbedding = 0, kAttention = 1, kMlp = 2;

  // INVALID_ARGUMENT: not whole windows of at most the model's context, or a token that is not below the vocabulary.
  absl::Status CheckBatch(const train::MicroBatch& batch) const final;
  int64_t Count(const train::MicroBatch& batch) const final { return int64_t{batch.sequences} * batch.context; }
  at::Tensor Loss(const train::MicroBatch& batch, const train::RandomKey* key) final;

  // The block whose first parameter is number `first`, over h {rows, width}; opens its own Autocast scope
  // (recompute.h).
  virtual at::Tensor RunBlock(int layer, int first, const at::Tensor& h, const train::MicroBatch& batch,
                              const train::RandomKey* key) const = 0;

  const ModelSpec& spec() const { return spec_; }
  // With weight and bias at parameters `first` and `first` + 1.
  at::Tensor Norm(const at::Tensor& h, int first) const;
  // Causal, through LibTorch's fused kernel. qkv {rows, 3 x width}: all of q, then k, then v, each split into heads in
  // order. Returns {rows, width}.
  at::Tensor Attend(const at::Tensor& qkv, const train::MicroBatch& batch) const;
  at::Tensor DropAt(const at::Tensor& h, const train::MicroBatch& batch, const train::RandomKey* key, int layer,
                    int site) const {
    return Drop(h, spec_.dropout, batch, key, layer, site);
  }

 private:
  const ModelSpec spec_;
  const int vocabulary_;
  const int block_parameters_;
};

}  // namespace rekindle::models

#endif  // REKINDLE_WORKER_MODELS_DECODER_H_
