#include "worker/models/gpt.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/add.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kernels/gelu.h"
#include "worker/models/autocast.h"
#include "worker/models/layout.h"
#include "worker/models/random.h"
#include "worker/models/recompute.h"

namespace rekindle::models {
namespace {

constexpr double kEpsilon = 1e-5;
constexpr double kDeviation = 0.02;

// Where dropout is applied; part of the generator's key, so these numbers never change.
enum class Site : uint64_t { kEmbedding = 0, kAttention = 1, kMlp = 2 };

struct Norm {
  at::Tensor weight, bias;
};

struct Block {
  Norm ln1;
  at::Tensor qkv, proj;
  Norm ln2;
  at::Tensor up, down;
};

// GELU that keeps its slope for backward (gelu.h). Computes in float32, stores in the type it is given.
class Gelu : public torch::autograd::Function<Gelu> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& input) {
    at::Tensor x = input.to(at::kFloat).contiguous(), out = at::empty_like(x), slope = at::empty_like(x);
    kernels::GeluForward(x.const_data_ptr<float>(), x.numel(), out.mutable_data_ptr<float>(),
                         slope.mutable_data_ptr<float>());
    context->save_for_backward({slope.to(input.scalar_type())});
    return out.to(input.scalar_type());
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    at::Tensor slope = context->get_saved_variables()[0].to(at::kFloat);
    at::Tensor dy = gradients[0].to(at::kFloat).contiguous(), dx = at::empty_like(dy);
    kernels::GeluBackward(dy.const_data_ptr<float>(), slope.const_data_ptr<float>(), dy.numel(),
                          dx.mutable_data_ptr<float>());
    return {dx.to(gradients[0].scalar_type())};
  }
};

class Gpt : public train::Model {
 public:
  explicit Gpt(const ModelSpec& spec) : spec_(spec), layout_(GptLayout(spec)) {}
  Gpt(const Gpt&) = delete;
  Gpt& operator=(const Gpt&) = delete;

  const train::ParameterLayout& layout() const override { return layout_; }
  void BindWeights(float* weights) override;
  void Initialize(uint64_t seed, std::span<float> weights) const override;
  absl::StatusOr<train::LossSum> Backward(const train::MicroBatch& batch, const train::RandomKey& key, float loss_scale,
                                          const train::GradientSink& sink) override;
  absl::StatusOr<train::LossSum> Evaluate(const train::MicroBatch& batch) override;

 private:
  absl::Status CheckBatch(const train::MicroBatch& batch) const;
  void Deliver(int parameter, const at::Tensor& gradient) const;
  // The summed loss of a batch; dropout only where `key` is given.
  at::Tensor Forward(const train::MicroBatch& batch, const train::RandomKey* key) const;
  at::Tensor RunBlock(int layer, at::Tensor h, const train::MicroBatch& batch, const train::RandomKey* key) const;
  at::Tensor Attend(const Block& block, const at::Tensor& h, const train::MicroBatch& batch) const;
  at::Tensor Normalize(const Norm& norm, const at::Tensor& h) const;
  at::Tensor Drop(const at::Tensor& h, const train::MicroBatch& batch, const train::RandomKey* key, int layer,
                  Site site) const;

  ModelSpec spec_;
  const train::ParameterLayout layout_;
  std::vector<at::Tensor> parameters_;  // Leaves: views of the bound weights.
  at::Tensor tok_, pos_;
  std::vector<Block> blocks_;
  Norm ln_;
  const train::GradientSink* sink_ = nullptr;  // Of the running Backward.
};

void Gpt::BindWeights(float* weights) {
  parameters_.clear();
  for (int i = 0; i < static_cast<int>(layout_.parameters.size()); ++i) {
    const train::ParameterInfo& info = layout_.parameters[i];
    at::Tensor leaf = at::from_blob(weights + info.offset, info.shape, at::kFloat);
    leaf.set_requires_grad(true);
    // On a leaf a hook sees the total of one backward, also where the parameter is used twice (the tied embedding).
    leaf.register_hook([this, i](const at::Tensor& gradient) { Deliver(i, gradient); });
    parameters_.push_back(std::move(leaf));
  }
  auto next = parameters_.begin();
  tok_ = *next++;
  pos_ = *next++;
  blocks_.assign(spec_.layers, {});
  for (Block& b : blocks_) {
    for (at::Tensor* p : {&b.ln1.weight, &b.ln1.bias, &b.qkv, &b.proj, &b.ln2.weight, &b.ln2.bias, &b.up, &b.down}) {
      *p = *next++;
    }
  }
  ln_.weight = *next++;
  ln_.bias = *next++;
}

void Gpt::Initialize(uint64_t seed, std::span<float> weights) const {
  for (const train::ParameterInfo& info : layout_.parameters) {
    std::span<float> values = weights.subspan(info.offset, info.size);
    if (info.shape.size() > 1) {
      FillNormal(RandomKeyOf({seed, NameWord(info.name)}), kDeviation, values);
    } else {
      std::fill(values.begin(), values.end(), info.name.ends_with(".weight") ? 1.0f : 0.0f);
    }
  }
}

absl::Status Gpt::CheckBatch(const train::MicroBatch& batch) const {
  if (parameters_.empty()) return absl::FailedPreconditionError("the model has no weights: call BindWeights first");
  if (batch.sequences < 1 || batch.context < 1 || batch.context > spec_.context ||
      batch.tokens.size() != static_cast<size_t>(batch.sequences) * (static_cast<size_t>(batch.context) + 1)) {
    return absl::InvalidArgumentError(absl::StrCat("micro-batch ", batch.index, " is malformed: ", batch.sequences,
                                                   " sequences of context ", batch.context, ", ", batch.tokens.size(),
                                                   " tokens; the model's context is ", spec_.context));
  }
  return absl::OkStatus();
}

void Gpt::Deliver(int parameter, const at::Tensor& gradient) const {
  at::Tensor dense = gradient.contiguous();
  (*sink_)(parameter, {dense.const_data_ptr<float>(), static_cast<size_t>(dense.numel())});
}

at::Tensor Gpt::Normalize(const Norm& norm, const at::Tensor& h) const {
  return at::layer_norm(h, {spec_.width}, norm.weight, norm.bias, kEpsilon);
}

at::Tensor Gpt::Drop(const at::Tensor& h, const train::MicroBatch& batch, const train::RandomKey* key, int layer,
                     Site site) const {
  if (key == nullptr || spec_.dropout == 0) return h;
  at::Tensor mask = at::empty(h.sizes(), at::kFloat);
  FillDropoutMask(RandomKeyOf({key->seed, static_cast<uint64_t>(key->step), static_cast<uint64_t>(batch.index),
                               static_cast<uint64_t>(layer), static_cast<uint64_t>(site)}),
                  spec_.dropout, {mask.mutable_data_ptr<float>(), static_cast<size_t>(mask.numel())});
  return at::mul(h, mask);
}

at::Tensor Gpt::Attend(const Block& block, const at::Tensor& h, const train::MicroBatch& batch) const {
  // The rows of qkv are all of q, then k, then v, each split into heads in order.
  std::vector<at::Tensor> qkv = at::linear(h, block.qkv).split(spec_.width, 1);
  for (at::Tensor& part : qkv) {
    part = part.view({batch.sequences, batch.context, spec_.heads, spec_.width / spec_.heads}).transpose(1, 2);
  }
  at::Tensor mixed = at::scaled_dot_product_attention(qkv[0], qkv[1], qkv[2], std::nullopt, 0.0, /*is_causal=*/true);
  return at::linear(mixed.transpose(1, 2).reshape({h.size(0), spec_.width}), block.proj);
}

at::Tensor Gpt::RunBlock(int layer, at::Tensor h, const train::MicroBatch& batch, const train::RandomKey* key) const {
  const Autocast autocast(spec_.compute);
  const Block& block = blocks_[layer];
  h = at::add(h, Drop(Attend(block, Normalize(block.ln1, h), batch), batch, key, layer, Site::kAttention));
  at::Tensor mlp = Gelu::apply(at::linear(Normalize(block.ln2, h), block.up));
  return at::add(h, Drop(at::linear(mlp, block.down), batch, key, layer, Site::kMlp));
}

at::Tensor Gpt::Forward(const train::MicroBatch& batch, const train::RandomKey* key) const {
  const Autocast autocast(spec_.compute);
  int64_t sequences = batch.sequences, context = batch.context, rows = sequences * context;
  at::Tensor inputs = at::empty({rows}, at::kLong), targets = at::empty({rows}, at::kLong);
  int64_t* input = inputs.mutable_data_ptr<int64_t>();
  int64_t* target = targets.mutable_data_ptr<int64_t>();
  for (int64_t row = 0; row < sequences; ++row) {
    const uint16_t* window = batch.tokens.data() + row * (context + 1);
    input = std::copy(window, window + context, input);
    target = std::copy(window + 1, window + context + 1, target);
  }
  at::Tensor h = at::embedding(tok_, inputs).view({sequences, context, spec_.width});
  h = at::add(h, pos_.narrow(0, 0, context)).view({rows, spec_.width});
  h = Drop(h, batch, key, 0, Site::kEmbedding);
  for (int layer = 0; layer < spec_.layers; ++layer) {
    const auto block = [this, layer, &batch, key](const at::Tensor& x) { return RunBlock(layer, x, batch, key); };
    h = spec_.recompute ? Recomputed(h, block) : block(h);
  }
  at::Tensor logits = at::linear(Normalize(ln_, h), tok_);
  return at::cross_entropy_loss(logits.to(at::kFloat), targets, {}, at::Reduction::Sum);
}

// The loss as a figure. `batch` has been checked.
absl::StatusOr<train::LossSum> LossOf(const at::Tensor& loss, const train::MicroBatch& batch) {
  double sum = loss.item<float>();
  if (!std::isfinite(sum)) {
    return absl::OutOfRangeError(absl::StrCat("micro-batch ", batch.index, ": the loss is not finite (", sum, ")"));
  }
  return train::LossSum{sum, int64_t{batch.sequences} * batch.context};
}

absl::StatusOr<train::LossSum> Gpt::Backward(const train::MicroBatch& batch, const train::RandomKey& key,
                                             float loss_scale, const train::GradientSink& sink) {
  if (absl::Status status = CheckBatch(batch); !status.ok()) return status;
  absl::StatusOr<train::LossSum> result;
  try {
    at::Tensor loss = Forward(batch, &key);
    result = LossOf(loss, batch);
    if (result.ok()) {
      sink_ = &sink;
      loss.backward(at::scalar_tensor(loss_scale));
    }
  } catch (const std::exception& error) {
    result = absl::InternalError(absl::StrCat("micro-batch ", batch.index, ": ", error.what()));
  }
  sink_ = nullptr;
  for (at::Tensor& parameter : parameters_) parameter.mutable_grad().reset();  // The sink has had it.
  return result;
}

absl::StatusOr<train::LossSum> Gpt::Evaluate(const train::MicroBatch& batch) {
  if (absl::Status status = CheckBatch(batch); !status.ok()) return status;
  try {
    at::NoGradGuard no_grad;
    return LossOf(Forward(batch, nullptr), batch);
  } catch (const std::exception& error) {
    return absl::InternalError(absl::StrCat("micro-batch ", batch.index, ": ", error.what()));
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<train::Model>> MakeGpt(const ModelSpec& spec) {
  if (absl::Status status = CheckGptSpec(spec); !status.ok()) return status;
  return std::make_unique<Gpt>(spec);
}

}  // namespace rekindle::models
