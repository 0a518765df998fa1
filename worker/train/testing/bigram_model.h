// A real model small enough for tests: a table of next-token logits over 16 symbols. No torch.
#ifndef REKINDLE_WORKER_TRAIN_TESTING_BIGRAM_MODEL_H_
#define REKINDLE_WORKER_TRAIN_TESTING_BIGRAM_MODEL_H_

#include <atomic>
#include <functional>

#include "worker/train/batch_source.h"
#include "worker/train/model.h"

namespace rekindle::train {

class BigramModel final : public Model {
 public:
  static constexpr int kSymbols = 16;

  // `ballast` more parameters, which are trained but change no prediction, and a buffer behind them: for what needs a
  // state of several shards.
  explicit BigramModel(int64_t ballast = 0);
  const ParameterLayout& layout() const override { return layout_; }
  void BindWeights(float* weights) override { weights_ = weights; }
  void TakeWeights() override {}
  void Initialize(uint64_t seed, std::span<float> weights) const override;
  absl::StatusOr<LossSum> Backward(const MicroBatch& batch, const RandomKey& key, float loss_scale,
                                   const GradientSink& sink) override;
  absl::StatusOr<LossSum> Evaluate(const MicroBatch& batch) override;

  // Called before each backward with its micro-batch's index: where tests put their delays and kills.
  std::function<void(int64_t step, int index)> before_backward;
  // Whether that micro-batch's gradient is to hold a NaN, or its loss to be one.
  enum class Poison { kNone, kGradient, kLoss, kSpike };
  std::function<Poison(int64_t step, int index)> poison;
  // Gradients beyond it become infinite, as in 16 bits; 0: none do. Scaled gradients, so that the scale matters.
  float largest_gradient = 0;
  std::atomic<int> backwards{0};

 private:
  LossSum Forward(const MicroBatch& batch, std::vector<float>* table, std::vector<float>* bias) const;

  ParameterLayout layout_;
  float* weights_ = nullptr;
};

// Micro-batches of text that a fixed chain of symbols makes: learnable, the same for everyone.
class ChainBatches final : public BatchSource {
 public:
  MicroBatch Train(int64_t step, int index) override { return Make(static_cast<uint64_t>(step) * 1000 + index, index); }
  MicroBatch Validation(int index) override { return Make(1'000'000'007ULL + index, index); }
  int validation_micro_batches() const override { return 5; }
  int64_t train_samples() const override { return 1000; }

 private:
  static MicroBatch Make(uint64_t key, int index);
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_TESTING_BIGRAM_MODEL_H_
