// Provides a real model that is small enough for tests: a table of next-token logits over 16 symbols. It needs no
// torch.
#ifndef REKINDLE_WORKER_TRAIN_TESTING_BIGRAM_MODEL_H_
#define REKINDLE_WORKER_TRAIN_TESTING_BIGRAM_MODEL_H_

#include <atomic>
#include <functional>

#include "worker/contract/batch_source.h"
#include "worker/contract/model_interface.h"

namespace rekindle::train {

class BigramModel final : public Model {
 public:
  static constexpr int kSymbols = 16;

  // Adds `ballast` more parameters, which are trained but change no prediction, and a buffer behind them. Tests set
  // `ballast` when they need a state of several shards.
  explicit BigramModel(int64_t ballast = 0);
  const ParameterLayout& layout() const override { return layout_; }
  void BindWeights(float* weights) override { weights_ = weights; }
  absl::Status Initialize(uint64_t seed, std::span<float> weights) override;
  absl::StatusOr<LossSum> Backward(const MicroBatch& batch, const RandomKey& key, float loss_scale,
                                   const GradientSink& sink) override;
  absl::StatusOr<LossSum> Evaluate(const MicroBatch& batch) override;
  bool IsHeldUp() const override { return held_up; }
  double LostSeconds() const override { return lost_seconds; }
  void SetUnwanted(bool is_unwanted) override { unwanted = is_unwanted; }

  // `before_backward` is called before each backward with the step and the index of its micro-batch. Tests put their
  // delays and kills there.
  std::function<void(int64_t step, int index)> before_backward;
  // `poison` says for each micro-batch whether its gradient contains a NaN, its loss is a NaN, or its loss is much too
  // high.
  enum class Poison { kNone, kGradient, kLoss, kSpike };
  std::function<Poison(int64_t step, int index)> poison;
  // If `is_unused` is set, it says which parameters get no gradient from a micro-batch.
  std::function<bool(int64_t step, int index, int parameter)> is_unused;
  // Scaled gradients above `largest_gradient` become infinite, as in 16 bits. If it is 0, gradients have no limit.
  float largest_gradient = 0;
  // With `leaves_loss` the loss of a micro-batch is left where a device would have computed it.
  bool leaves_loss = false;
  // If `before_initialize` is set, it is called before the initial weights are written, and its error is returned.
  std::function<absl::Status()> before_initialize;
  // If `fails` is set, a micro-batch for which it returns an error has that error.
  std::function<absl::Status(int64_t step, int index)> fails;
  // Tests set what the model says of itself, and see what the engine has said to it.
  std::atomic<bool> held_up{false};
  std::atomic<double> lost_seconds{0};
  std::atomic<bool> unwanted{false};
  std::atomic<int> backwards{0};

 private:
  LossSum Forward(const MicroBatch& batch, std::vector<float>* table, std::vector<float>* bias) const;

  ParameterLayout layout_;
  float* weights_ = nullptr;
  float left_loss_ = 0;
};

// Makes micro-batches of text in which most symbols follow from the one before by a fixed rule, so that a model can
// learn it. The text is the same for every rank.
class ChainBatches final : public BatchSource {
 public:
  MicroBatch Train(int64_t step, int index) override {
    if (before_read) before_read(step);
    return Make(static_cast<uint64_t>(step) * 1000 + index, index);
  }
  MicroBatch Validation(int index) override { return Make(1'000'000'007ULL + index, index); }
  int validation_micro_batches() const override { return 5; }
  int64_t train_samples() const override { return 1000; }

  // `before_read` is called on the engine's thread before a micro-batch is read and queued. A test may wait there
  // without holding up what is queued on the device.
  std::function<void(int64_t step)> before_read;

 private:
  static MicroBatch Make(uint64_t key, int index);
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_TESTING_BIGRAM_MODEL_H_
