#include "worker/train/testing/bigram_model.h"

#include <cmath>
#include <limits>

#include "kernels/vector/splitmix64.h"

namespace rekindle::train {
namespace {

constexpr int kContext = 12;
constexpr int kSequences = 3;

}  // namespace

BigramModel::BigramModel(int64_t ballast) {
  layout_.parameters = {{.name = "table", .shape = {kSymbols, kSymbols}, .offset = 0, .size = 256, .decay = true},
                        {.name = "bias", .shape = {kSymbols}, .offset = 256, .size = kSymbols}};
  layout_.total = 256 + kSymbols;
  if (ballast == 0) return;
  const int64_t end = layout_.total + ballast;
  layout_.parameters.push_back(
      {.name = "ballast", .shape = {ballast}, .offset = layout_.total, .size = ballast, .decay = true});
  layout_.parameters.push_back(
      {.name = "mean", .shape = {kSymbols}, .offset = end, .size = kSymbols, .decay = false, .momentum = 0.1});
  layout_.total = end + kSymbols;
}

absl::Status BigramModel::Initialize(uint64_t seed, std::span<float> weights) {
  if (before_initialize) {
    if (absl::Status status = before_initialize(); !status.ok()) return status;
  }
  for (size_t i = 0; i < weights.size(); ++i) {
    weights[i] = static_cast<float>(kernels::SplitMix64(seed * 1'000'003 + i) >> 40) * 1e-9f;
  }
  return absl::OkStatus();
}

LossSum BigramModel::Forward(const MicroBatch& batch, std::vector<float>* table, std::vector<float>* bias) const {
  LossSum loss;
  for (int s = 0; s < batch.sequences; ++s) {
    for (int t = 0; t < batch.context; ++t) {
      const size_t at = static_cast<size_t>(s) * (batch.context + 1) + t;
      const int x = batch.tokens[at] % kSymbols;
      const int y = batch.tokens[at + 1] % kSymbols;
      double p[kSymbols];
      double sum = 0;
      for (int k = 0; k < kSymbols; ++k) sum += p[k] = std::exp(double{weights_[x * kSymbols + k]} + weights_[256 + k]);
      loss.sum += std::log(sum) - std::log(p[y]);
      ++loss.count;
      if (table == nullptr) continue;
      for (int k = 0; k < kSymbols; ++k) {
        const auto g = static_cast<float>(p[k] / sum - (k == y ? 1 : 0));
        (*table)[static_cast<size_t>(x * kSymbols + k)] += g;
        (*bias)[static_cast<size_t>(k)] += g;
      }
    }
  }
  return loss;
}

absl::StatusOr<LossSum> BigramModel::Backward(const MicroBatch& batch, const RandomKey& key, float loss_scale,
                                              const GradientSink& sink) {
  if (before_backward) before_backward(key.step, batch.index);
  if (fails) {
    if (absl::Status status = fails(key.step, batch.index); !status.ok()) return status;
  }
  ++backwards;
  std::vector<float> table(256), bias(kSymbols);
  LossSum loss = Forward(batch, &table, &bias);
  const Poison poisoned = poison ? poison(key.step, batch.index) : Poison::kNone;
  if (poisoned == Poison::kLoss) loss.sum = std::nan("");
  if (poisoned == Poison::kSpike) loss.sum *= 100;
  if (poisoned == Poison::kGradient) bias[3] = std::nanf("");
  for (std::vector<float>* gradient : {&table, &bias}) {
    for (float& g : *gradient) {
      g *= loss_scale;
      if (largest_gradient > 0 && std::abs(g) > largest_gradient) g = std::numeric_limits<float>::infinity();
    }
  }
  const auto deliver = [&](int parameter, const std::vector<float>& gradient) {
    if (!is_unused || !is_unused(key.step, batch.index, parameter)) sink(parameter, gradient);
  };
  if (layout_.parameters.size() > 2) {
    deliver(3, bias);
    std::vector<float> ballast(static_cast<size_t>(layout_.parameters[2].size));
    for (size_t i = 0; i < ballast.size(); ++i) ballast[i] = table[i % table.size()] * 0.5f;
    deliver(2, ballast);
  }
  deliver(1, bias);
  deliver(0, table);
  if (!leaves_loss) return loss;
  left_loss_ = static_cast<float>(loss.sum);
  return LossSum{.count = loss.count, .on_device = &left_loss_};
}

absl::StatusOr<LossSum> BigramModel::Evaluate(const MicroBatch& batch) { return Forward(batch, nullptr, nullptr); }

MicroBatch ChainBatches::Make(uint64_t key, int index) {
  MicroBatch batch{.index = index, .sequences = kSequences, .context = kContext, .tokens = {}};
  for (int s = 0; s < kSequences; ++s) {
    uint64_t state = kernels::SplitMix64(key * 31 + static_cast<uint64_t>(s));
    int symbol = static_cast<int>(state % BigramModel::kSymbols);
    for (int t = 0; t <= kContext; ++t) {
      batch.tokens.push_back(static_cast<uint16_t>(symbol));
      state = kernels::SplitMix64(state);
      symbol = state % 4 == 0 ? static_cast<int>(state >> 8) % BigramModel::kSymbols : (symbol * 5 + 3) % 16;
    }
  }
  for (uint16_t& token : batch.tokens) token %= BigramModel::kSymbols;
  return batch;
}

}  // namespace rekindle::train
