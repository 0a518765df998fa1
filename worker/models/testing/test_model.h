// Provides what the tests of the models share: a model with weights of its own, and its gradients as one flat vector.
#ifndef REKINDLE_WORKER_MODELS_TESTING_TEST_MODEL_H_
#define REKINDLE_WORKER_MODELS_TESTING_TEST_MODEL_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "worker/models/registry/model_registry.h"

namespace rekindle::models {

struct Gradients {
  train::LossSum loss;
  // `values` holds the gradients in the order in which the layout packs the parameters.
  std::vector<float> values;
  // `order` lists the parameters in the order in which their gradients arrived.
  std::vector<int> order;

  bool operator==(const Gradients& other) const {
    return loss.sum == other.loss.sum && loss.count == other.loss.count && values == other.values;
  }
};

// Returns the L2 norm of the difference of two gradients, divided by the norm of the second.
inline double RelativeError(const Gradients& a, const Gradients& b) {
  double difference = 0, norm = 0;
  for (size_t i = 0; i < b.values.size(); ++i) {
    difference += std::pow(double{a.values[i]} - b.values[i], 2);
    norm += std::pow(double{b.values[i]}, 2);
  }
  return std::sqrt(difference / norm);
}

class TestModel {
 public:
  explicit TestModel(const ModelSpec& spec, uint64_t seed = 1) : spec_(spec) {
    auto model = MakeModel(spec);
    EXPECT_TRUE(model.ok()) << model.status();
    model_ = std::move(*model);
    int64_t total = model_->layout().total;
    weights_.reset(static_cast<float*>(std::aligned_alloc(64, (total * sizeof(float) + 63) / 64 * 64)));
    EXPECT_TRUE(model_->Initialize(seed, weights()).ok());
    model_->BindWeights(weights_.get());
  }

  train::Model& model() { return *model_; }
  std::span<float> weights() { return {weights_.get(), static_cast<size_t>(model_->layout().total)}; }

  // Makes a micro-batch of tokens that depend only on `index`, so they are the same in every call.
  train::MicroBatch Batch(int index, int sequences = 2) const {
    train::MicroBatch batch{.index = index, .sequences = sequences, .context = spec_.context};
    batch.tokens.resize(static_cast<size_t>(sequences) * (spec_.context + 1));
    uint32_t state = 17 * index + 1;
    for (uint16_t& token : batch.tokens) token = static_cast<uint16_t>((state = state * 1664525 + 1013904223) >> 24);
    return batch;
  }

  // Makes a micro-batch of features and targets that depend only on `index`, so they are the same in every call.
  static train::MicroBatch Samples(int index, int samples, int features, int classes) {
    train::MicroBatch batch{.index = index, .sequences = samples};
    uint32_t state = 17 * index + 1;
    const auto next = [&] { return (state = state * 1664525 + 1013904223) >> 8; };
    for (int i = 0; i < samples * features; ++i) batch.features.push_back(static_cast<float>(next()) / (1 << 23) - 1);
    for (int i = 0; i < samples; ++i) batch.targets.push_back(static_cast<float>(next() % std::max(2, classes)));
    return batch;
  }

  Gradients Backward(const train::MicroBatch& batch, const train::RandomKey& key = {}, float loss_scale = 1) {
    Gradients result;
    result.values.assign(model_->layout().total, 0);
    auto sink = [&](int parameter, std::span<const float> gradient) {
      const train::ParameterInfo& info = model_->layout().parameters.at(parameter);
      ASSERT_EQ(static_cast<int64_t>(gradient.size()), info.size);
      std::copy(gradient.begin(), gradient.end(), result.values.begin() + info.offset);
      result.order.push_back(parameter);
    };
    auto loss = model_->Backward(batch, key, loss_scale, sink);
    EXPECT_TRUE(loss.ok()) << loss.status();
    if (loss.ok()) result.loss = *loss;
    return result;
  }

 private:
  struct Free {
    void operator()(float* p) const { std::free(p); }
  };
  ModelSpec spec_;
  // `weights_` is declared before `model_`, so that the memory outlives the model that uses it.
  std::unique_ptr<float, Free> weights_;
  std::unique_ptr<train::Model> model_;
};

inline ModelSpec SmallSpec(double dropout = 0) {
  return {.kind = "gpt", .layers = 2, .heads = 2, .width = 32, .context = 16, .dropout = dropout};
}

}  // namespace rekindle::models

#endif  // REKINDLE_WORKER_MODELS_TESTING_TEST_MODEL_H_
