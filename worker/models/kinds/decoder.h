// Provides what the GPTs share: a pre-norm transformer decoder with tied embeddings over windows of tokens. A model
// that is based on it adds its layout, its initial values and one function that runs a block. This header includes
// ATen.
#ifndef REKINDLE_WORKER_MODELS_KINDS_DECODER_H_
#define REKINDLE_WORKER_MODELS_KINDS_DECODER_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "worker/models/aten/aten_model.h"
#include "worker/models/declared/model_spec.h"

namespace rekindle::models {

// Decodes windows of tokens. The layout begins with the embeddings of tokens and positions. Then come the blocks, which
// all have the same number of parameters, and then the weight and bias of the last norm.
class Decoder : public AtenModel {
 public:
  Decoder(train::ParameterLayout parameters, const ModelSpec& spec, int block_parameters)
      : AtenModel(std::move(parameters), spec),
        spec_(spec),
        vocabulary_(layout().parameters.front().shape.front()),
        block_parameters_(block_parameters) {}

 protected:
  // `kDeviation` is the standard deviation of the initial values of a decoder's matrices. GPT-2 divides it by a number
  // for some of its matrices.
  static constexpr double kDeviation = 0.02;
  // `kEmbedding`, `kAttention` and `kFeedForward` say where dropout is applied. They are part of the random generator's
  // key, so they must never change.
  static constexpr int kEmbedding = 0, kAttention = 1, kFeedForward = 2;

  // Returns INVALID_ARGUMENT if the micro-batch is not made of whole windows of at most the model's context, or if a
  // token is not below the vocabulary.
  absl::Status CheckBatch(const train::MicroBatch& batch) const final;
  int64_t Count(const train::MicroBatch& batch) const final { return int64_t{batch.sequences} * batch.context; }
  at::Tensor Loss(const train::MicroBatch& batch, const train::RandomKey* key) final;

  // Runs the block whose first parameter is number `first` over h {rows, width}. A block opens its own Autocast scope
  // (recompute.h).
  virtual at::Tensor RunBlock(int layer, int first, const at::Tensor& h, const train::MicroBatch& batch,
                              const train::RandomKey* key) const = 0;

  const ModelSpec& spec() const { return spec_; }
  // Applies the LayerNorm whose weight and bias are parameters `first` and `first` + 1.
  at::Tensor Norm(const at::Tensor& h, int first) const;
  // Computes causal attention through LibTorch's fused kernel. `qkv` {rows, 3 x width} holds all of q, then k, then v,
  // each split into heads in order. Returns {rows, width}.
  at::Tensor Attend(const at::Tensor& qkv, const train::MicroBatch& batch) const;
  at::Tensor DropAt(const at::Tensor& h, const train::MicroBatch& batch, const train::RandomKey* key, int layer,
                    int site) const {
    return Drop(h, spec_.dropout, batch, key, layer, site);
  }

 private:
  const ModelSpec spec_;
  const int64_t vocabulary_;
  const int block_parameters_;
};

}  // namespace rekindle::models

#endif  // REKINDLE_WORKER_MODELS_KINDS_DECODER_H_
