// Tests what holds for every model except the byte-level GPT, which has tests of its own.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <tuple>

#include "worker/models/declared/model_kind.h"
#include "worker/models/registry/numeric_runtime.h"
#include "worker/models/testing/test_model.h"

namespace rekindle::models {
namespace {

struct Case {
  ModelSpec spec;
  // `features` is the number of values of a sample. It is 0 for a model on tokens.
  int features = 0;
  // `gradient_error` is the relative error of gradients that is allowed in bf16. It is larger for the ResNets, because
  // batch norm over four samples is imprecise. PyTorch's autocast has errors of 0.34 and 1.35 for them.
  double gradient_error = 0.1;
};

const Case kCases[] = {
    {{.kind = "mlp", .layers = 2, .width = 16, .dropout = 0.25, .inputs = 5, .classes = 3}, 5},
    {{.kind = "mlp", .layers = 1, .width = 16, .inputs = 5}, 5},
    {{.kind = "resnet18", .width = 4, .classes = 10}, 3072, 0.5},
    {{.kind = "resnet50", .width = 4, .classes = 10}, 3072, 2},
    {{.kind = "gpt2", .layers = 2, .heads = 2, .width = 16, .context = 8, .dropout = 0.1, .vocabulary = 256}, 0},
};

train::MicroBatch BatchOf(const Case& c, TestModel& test, int index) {
  return c.features > 0 ? TestModel::Samples(index, 4, c.features, c.spec.classes) : test.Batch(index);
}

TEST(ModelsTest, AMicroBatchGivesTheSameBitsAgainAndDeliversEachParameterOnce) {
  for (const Case& c : kCases) {
    TestModel test(c.spec), other(c.spec);
    const train::MicroBatch batch = BatchOf(c, test, 3);
    other.Backward(BatchOf(c, other, 4));
    const Gradients first = test.Backward(batch, {.seed = 7, .step = 2});
    EXPECT_EQ(first, other.Backward(batch, {.seed = 7, .step = 2})) << c.spec.kind;
    std::vector<int> order = first.order, all(test.model().layout().parameters.size());
    std::iota(all.begin(), all.end(), 0);
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, all) << c.spec.kind;
    EXPECT_EQ(first == test.Backward(batch, {.seed = 7, .step = 3}), c.spec.dropout == 0) << c.spec.kind;
  }
}

TEST(ModelsTest, ALossThatIsLeftOnTheDeviceIsTheSame) {
  for (const Case& c : kCases) {
    ModelSpec spec = c.spec;
    spec.device = ComputeDevice::kCpuLikeGpu;
    TestModel test(c.spec), leaves(spec);
    const train::MicroBatch batch = BatchOf(c, test, 3);
    const Gradients expected = test.Backward(batch, {.seed = 7, .step = 2});
    Gradients got = leaves.Backward(batch, {.seed = 7, .step = 2});
    ASSERT_NE(got.loss.on_device, nullptr) << c.spec.kind;
    got.loss.sum = *got.loss.on_device;
    EXPECT_EQ(got, expected) << c.spec.kind;
    EXPECT_EQ(test.model().Evaluate(batch)->sum, leaves.model().Evaluate(batch)->sum) << c.spec.kind;
  }
}

TEST(ModelsTest, AForwardWritesNeitherWeightsNorBuffers) {
  for (const Case& c : kCases) {
    TestModel test(c.spec);
    const std::vector<float> before(test.weights().begin(), test.weights().end());
    const train::MicroBatch batch = BatchOf(c, test, 3);
    test.Backward(batch);
    ASSERT_TRUE(test.model().Evaluate(batch).ok());
    EXPECT_TRUE(std::equal(before.begin(), before.end(), test.weights().begin())) << c.spec.kind;
  }
}

TEST(ModelsTest, BuffersComeLastAndAnEvaluationReadsThem) {
  TestModel test({.kind = "resnet18", .width = 4, .classes = 10});
  const auto& all = test.model().layout().parameters;
  const auto is_buffer = [](const train::ParameterInfo& info) { return info.is_buffer(); };
  EXPECT_TRUE(std::is_partitioned(all.rbegin(), all.rend(), is_buffer));
  EXPECT_EQ(std::count_if(all.begin(), all.end(), is_buffer), 40);
  EXPECT_EQ(all.back().name, "layer4.1.bn2.running_var");
  const train::MicroBatch batch = TestModel::Samples(1, 4, 3072, 10);
  const double before = test.model().Evaluate(batch)->sum;
  test.weights()[all.back().offset] += 1;
  EXPECT_NE(test.model().Evaluate(batch)->sum, before);
}

TEST(ModelsTest, PublishedSizes) {
  const auto total = [](const ModelSpec& spec) {
    const auto layout = LayoutOf(spec);
    EXPECT_TRUE(layout.ok()) << layout.status();
    int64_t trained = 0;
    for (const train::ParameterInfo& info : layout->parameters) trained += info.is_buffer() ? 0 : info.size;
    return trained;
  };
  EXPECT_EQ(total({.kind = "gpt2", .layers = 12, .heads = 12, .width = 768, .context = 1024, .vocabulary = 50257}),
            124439808);
  EXPECT_EQ(total({.kind = "resnet18", .width = 64, .classes = 10}), 11173962);
  EXPECT_EQ(total({.kind = "resnet50", .width = 64, .classes = 10}), 23520842);
}

TEST(ModelsTest, BatchesOfAnotherShapeAreRefusedByTheirNumber) {
  for (const Case& c : kCases) {
    TestModel test(c.spec);
    train::MicroBatch batch = BatchOf(c, test, 9);
    (c.features > 0 ? batch.features.resize(batch.features.size() - 1) : batch.tokens.resize(3));
    const auto loss = test.model().Evaluate(batch);
    ASSERT_FALSE(loss.ok()) << c.spec.kind;
    EXPECT_NE(loss.status().message().find("micro-batch 9"), std::string::npos) << loss.status();
  }
  TestModel gpt2(kCases[4].spec);
  train::MicroBatch batch = gpt2.Batch(9);
  batch.tokens[4] = 256;
  EXPECT_FALSE(gpt2.model().Evaluate(batch).ok()) << "beyond the vocabulary";
}

TEST(ModelsTest, ALossThatIsNotFiniteIsReturnedAndTheNextOneIsAsGoodAsEver) {
  for (const Case& c : kCases) {
    TestModel test(c.spec), other(c.spec);
    const train::MicroBatch batch = BatchOf(c, test, 3);
    test.weights()[0] = NAN;
    EXPECT_FALSE(std::isfinite(test.Backward(batch).loss.sum)) << c.spec.kind;
    EXPECT_FALSE(std::isfinite(test.model().Evaluate(batch)->sum)) << c.spec.kind;
    test.weights()[0] = other.weights()[0];
    EXPECT_EQ(test.Backward(batch), other.Backward(batch)) << c.spec.kind;
  }
}

TEST(ModelsTest, SixteenBitsAreNearToFloat32ButNotIt) {
  for (const Case& c : kCases) {
    TestModel reference(c.spec);
    const train::MicroBatch batch = BatchOf(c, reference, 1);
    const Gradients expected = reference.Backward(batch);
    for (const auto& [compute, bound, of_gradient] : {std::tuple{train::ComputeType::kBfloat16, 0.1, c.gradient_error},
                                                      {train::ComputeType::kFloat16, 0.02, c.gradient_error / 2}}) {
      ModelSpec spec = c.spec;
      spec.compute = compute;
      TestModel test(spec);
      const Gradients got = test.Backward(batch);
      EXPECT_NEAR(got.loss.sum, expected.loss.sum, bound * expected.loss.sum) << spec.kind;
      EXPECT_LT(RelativeError(got, expected), of_gradient) << spec.kind;
      EXPECT_GT(RelativeError(got, expected), bound / 1000) << spec.kind;
      EXPECT_NEAR(test.model().Evaluate(batch)->sum, reference.model().Evaluate(batch)->sum,
                  bound * reference.model().Evaluate(batch)->sum)
          << spec.kind;
    }
  }
}

TEST(ModelsTest, WhatIsDeliveredCarriesTheLossScaleAndTheLossDoesNot) {
  for (const Case& c : kCases) {
    TestModel test(c.spec);
    const train::MicroBatch batch = BatchOf(c, test, 1);
    const Gradients plain = test.Backward(batch), scaled = test.Backward(batch, {}, 1024);
    EXPECT_EQ(scaled.loss.sum, plain.loss.sum) << c.spec.kind;
    for (size_t i = 0; i < plain.values.size(); ++i) {
      ASSERT_EQ(scaled.values[i], plain.values[i] * 1024) << c.spec.kind << ", " << i;
    }
  }
}

TEST(ModelsTest, RecomputedBlocksGiveTheSameBits) {
  ModelSpec spec = kCases[4].spec;
  for (train::ComputeType compute : {train::ComputeType::kFloat32, train::ComputeType::kBfloat16}) {
    spec.compute = compute;
    spec.recompute = false;
    TestModel kept(spec);
    spec.recompute = true;
    TestModel recomputed(spec);
    EXPECT_EQ(recomputed.Backward(kept.Batch(1), {9, 2}), kept.Backward(kept.Batch(1), {9, 2}));
    EXPECT_EQ(recomputed.model().Evaluate(kept.Batch(2))->sum, kept.model().Evaluate(kept.Batch(2))->sum);
  }
}

TEST(ModelsTest, EveryKindHasAProbe) {
  for (const Case& c : kCases) {
    const auto digest = ProbeDigest(c.spec, 4);
    ASSERT_TRUE(digest.ok()) << c.spec.kind << ": " << digest.status();
    EXPECT_EQ(*digest, *ProbeDigest(c.spec, 4)) << c.spec.kind;
  }
}

}  // namespace
}  // namespace rekindle::models
