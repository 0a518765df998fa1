#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "worker/models/testing/test_model.h"

namespace rekindle::models {
namespace {

using ::testing::HasSubstr;
using train::ComputeType;

ModelSpec In(ComputeType compute) {
  ModelSpec spec = SmallSpec(0.2);
  spec.compute = compute;
  return spec;
}

TEST(GptTest, ParametersAreThoseOfPyTorch) {
  TestModel test(SmallSpec());
  const train::ParameterLayout& layout = test.model().layout();
  std::vector<std::string> names;
  int64_t offset = 0;
  for (const train::ParameterInfo& info : layout.parameters) {
    names.push_back(info.name);
    EXPECT_EQ(info.offset, offset);
    EXPECT_EQ(info.size, std::accumulate(info.shape.begin(), info.shape.end(), int64_t{1}, std::multiplies<>()));
    EXPECT_EQ(info.decay, info.shape.size() == 2) << info.name;
    offset += info.size;
  }
  EXPECT_EQ(layout.total, offset);
  EXPECT_EQ(names, (std::vector<std::string>{
                       "tok.weight",          "pos.weight",           "blocks.0.ln1.weight", "blocks.0.ln1.bias",
                       "blocks.0.qkv.weight", "blocks.0.proj.weight", "blocks.0.ln2.weight", "blocks.0.ln2.bias",
                       "blocks.0.up.weight",  "blocks.0.down.weight", "blocks.1.ln1.weight", "blocks.1.ln1.bias",
                       "blocks.1.qkv.weight", "blocks.1.proj.weight", "blocks.1.ln2.weight", "blocks.1.ln2.bias",
                       "blocks.1.up.weight",  "blocks.1.down.weight", "ln.weight",           "ln.bias"}));
}

TEST(GptTest, TheDefaultSizeHas837888Parameters) {
  auto model = MakeModel({.layers = 4, .heads = 4, .width = 128, .context = 128});
  ASSERT_TRUE(model.ok());
  EXPECT_EQ((*model)->layout().total, 837888);
}

TEST(GptTest, InitialValuesDependOnSeedAndName) {
  ModelSpec deeper = SmallSpec();
  deeper.layers = 3;
  TestModel a(SmallSpec(), 5), b(deeper, 5), c(SmallSpec(), 6);
  auto values = [](TestModel& test, const std::string& name) {
    for (const train::ParameterInfo& info : test.model().layout().parameters) {
      if (info.name != name) continue;
      auto span = test.weights().subspan(info.offset, info.size);
      return std::vector<float>(span.begin(), span.end());
    }
    return std::vector<float>();
  };
  EXPECT_EQ(values(a, "ln.weight"), std::vector<float>(32, 1));
  EXPECT_EQ(values(a, "blocks.0.ln1.bias"), std::vector<float>(32, 0));
  EXPECT_EQ(values(a, "blocks.1.qkv.weight"), values(b, "blocks.1.qkv.weight"));
  EXPECT_NE(values(a, "blocks.1.qkv.weight"), values(a, "blocks.0.qkv.weight"));
  EXPECT_NE(values(a, "blocks.1.qkv.weight"), values(c, "blocks.1.qkv.weight"));
}

TEST(GptTest, AnUntrainedModelKnowsNothing) {
  TestModel test(SmallSpec());
  auto loss = test.model().Evaluate(test.Batch(0));
  ASSERT_TRUE(loss.ok()) << loss.status();
  EXPECT_EQ(loss->count, 32);
  EXPECT_NEAR(loss->sum / 32, std::log(256.0), 0.1);
}

TEST(GptTest, EveryGradientComesOnceAndTheTiedOneLast) {
  TestModel test(SmallSpec());
  Gradients gradients = test.Backward(test.Batch(0));
  std::vector<int> sorted = gradients.order;
  std::sort(sorted.begin(), sorted.end());
  std::vector<int> all(test.model().layout().parameters.size());
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(sorted, all);
  // Backward delivers the gradients of a model's last parameters first. Parameter 18 of 20, ln.weight, must be among
  // the first two.
  EXPECT_LE(std::find(gradients.order.begin(), gradients.order.end(), 18) - gradients.order.begin(), 1);
  // Parameter 0 of 20, the embedding of tokens, must be among the last two whose gradients backward delivers.
  EXPECT_GE(std::find(gradients.order.begin(), gradients.order.end(), 0) - gradients.order.begin(), 18);
}

TEST(GptTest, BackwardAndEvaluationAgreeOnTheLoss) {
  TestModel test(SmallSpec());
  EXPECT_EQ(test.Backward(test.Batch(3)).loss.sum, test.model().Evaluate(test.Batch(3))->sum);
}

TEST(GptTest, WeightsAreReadAtEachForward) {
  TestModel test(SmallSpec());
  double before = test.model().Evaluate(test.Batch(0))->sum;
  for (float& w : test.weights()) w *= 1.5f;
  EXPECT_NE(test.model().Evaluate(test.Batch(0))->sum, before);
}

TEST(GptTest, AShorterContextWorks) {
  TestModel test(SmallSpec());
  train::MicroBatch batch = test.Batch(0, 1);
  batch.context = 5;
  batch.tokens.resize(6);
  EXPECT_EQ(test.Backward(batch).loss.count, 5);
}

// The gradients of a micro-batch have the same bits when they are computed again. The recovery from a lost rank rests
// on this property.
TEST(GptTest, AMicroBatchHasTheSameBitsWhenRecomputed) {
  for (const ModelSpec& spec : {SmallSpec(), SmallSpec(0.2), In(ComputeType::kBfloat16), In(ComputeType::kFloat16)}) {
    TestModel first(spec);
    std::vector<Gradients> expected;
    for (int index = 0; index < 4; ++index) expected.push_back(first.Backward(first.Batch(index, 4), {9, 2}));
    for (int round = 0; round < 5; ++round) {
      TestModel fresh(spec);
      TestModel& test = round % 2 == 0 ? first : fresh;
      for (int n = 0; n < 4; ++n) {
        int index = (n * 3 + round) % 4;
        if (n == round % 4) {
          ASSERT_TRUE(test.model().Evaluate(test.Batch(7, 3)).ok());
        }
        EXPECT_EQ(test.Backward(test.Batch(index, 4), {9, 2}), expected[index]) << "round " << round << ", " << index;
      }
    }
  }
}

// Compares the gradient with central differences of the loss, at the steepest entry of each parameter.
TEST(GptTest, GradientsMatchFiniteDifferences) {
  for (double dropout : {0.0, 0.3}) {
    TestModel test(SmallSpec(dropout));
    // Larger weights move the model away from its initial state, where the loss is nearly flat.
    for (float& w : test.weights()) w *= 3;
    train::MicroBatch batch = test.Batch(1);
    Gradients gradients = test.Backward(batch, {4, 1});
    for (const train::ParameterInfo& info : test.model().layout().parameters) {
      auto begin = gradients.values.begin() + info.offset;
      auto steepest =
          std::max_element(begin, begin + info.size, [](float a, float b) { return std::abs(a) < std::abs(b); });
      float& weight = test.weights()[steepest - gradients.values.begin()];
      float original = weight, step = 0.01f;
      weight = original + step;
      double above = test.Backward(batch, {4, 1}).loss.sum, up = weight;
      weight = original - step;
      double below = test.Backward(batch, {4, 1}).loss.sum, down = weight;
      weight = original;
      double difference = (above - below) / (up - down);
      EXPECT_NEAR(difference, *steepest, 0.02 * std::abs(*steepest) + 0.02) << info.name << ", dropout " << dropout;
    }
  }
}

TEST(GptTest, DropoutDependsOnSeedStepAndMicroBatchOnly) {
  TestModel test(SmallSpec(0.2));
  train::MicroBatch batch = test.Batch(1), renumbered = batch;
  renumbered.index = 2;
  double loss = test.Backward(batch, {1, 1}).loss.sum;
  EXPECT_EQ(test.Backward(batch, {1, 1}).loss.sum, loss);
  EXPECT_NE(test.Backward(batch, {2, 1}).loss.sum, loss);
  EXPECT_NE(test.Backward(batch, {1, 2}).loss.sum, loss);
  EXPECT_NE(test.Backward(renumbered, {1, 1}).loss.sum, loss);
  TestModel plain(SmallSpec());
  EXPECT_EQ(test.model().Evaluate(batch)->sum, plain.model().Evaluate(batch)->sum);
}

TEST(GptTest, SixteenBitsAreNearToFloat32ButNotIt) {
  TestModel reference(In(ComputeType::kFloat32));
  const Gradients expected = reference.Backward(reference.Batch(1));
  for (const auto& [compute, bound] : {std::pair{ComputeType::kBfloat16, 0.02}, {ComputeType::kFloat16, 0.003}}) {
    TestModel test(In(compute));
    const Gradients got = test.Backward(test.Batch(1));
    EXPECT_NEAR(got.loss.sum, expected.loss.sum, bound * expected.loss.sum);
    EXPECT_LT(RelativeError(got, expected), bound);
    EXPECT_GT(RelativeError(got, expected), bound / 100);
  }
}

TEST(GptTest, RecomputedBlocksGiveTheSameBits) {
  for (ComputeType compute : {ComputeType::kFloat32, ComputeType::kBfloat16, ComputeType::kFloat16}) {
    ModelSpec spec = In(compute);
    TestModel kept(spec);
    spec.recompute = true;
    TestModel recomputed(spec);
    const Gradients expected = kept.Backward(kept.Batch(1), {9, 2}), got = recomputed.Backward(kept.Batch(1), {9, 2});
    EXPECT_EQ(got, expected);
    EXPECT_EQ(std::set(got.order.begin(), got.order.end()), std::set(expected.order.begin(), expected.order.end()));
    EXPECT_EQ(recomputed.model().Evaluate(kept.Batch(2))->sum, kept.model().Evaluate(kept.Batch(2))->sum);
  }
}

TEST(GptTest, GradientsCarryTheLossScaleAndTheLossDoesNot) {
  TestModel test(SmallSpec());
  const Gradients plain = test.Backward(test.Batch(1)), scaled = test.Backward(test.Batch(1), {}, 1024);
  EXPECT_EQ(scaled.loss.sum, plain.loss.sum);
  for (size_t i = 0; i < plain.values.size(); ++i) ASSERT_EQ(scaled.values[i], plain.values[i] * 1024) << i;
}

TEST(GptTest, ATooLargeScaleOverflowsFloat16AndIsSeen) {
  TestModel test(In(ComputeType::kFloat16));
  const Gradients gradients = test.Backward(test.Batch(1), {}, 0x1p30f);
  EXPECT_FALSE(std::all_of(gradients.values.begin(), gradients.values.end(), [](float g) { return std::isfinite(g); }));
}

TEST(GptTest, TheOptimizersWritesReachA16BitForward) {
  TestModel test(In(ComputeType::kBfloat16));
  const double before = test.Backward(test.Batch(0)).loss.sum;
  for (float& w : test.weights()) w *= 1.5f;
  EXPECT_NE(test.Backward(test.Batch(0)).loss.sum, before);
}

TEST(GptTest, AMalformedBatchIsRefused) {
  TestModel test(SmallSpec());
  auto refused = [&](auto change) {
    train::MicroBatch batch = test.Batch(0);
    change(batch);
    return test.model().Evaluate(batch).status().code() == absl::StatusCode::kInvalidArgument;
  };
  EXPECT_TRUE(refused([](train::MicroBatch& b) { b.tokens.pop_back(); }));
  EXPECT_TRUE(refused([](train::MicroBatch& b) { b.sequences = 0; }));
  EXPECT_TRUE(refused([](train::MicroBatch& b) {
    b.context = 17;
    b.tokens.resize(36);
  }));
  auto unbound = MakeModel(SmallSpec());
  EXPECT_EQ((*unbound)->Evaluate(test.Batch(0)).status().code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace rekindle::models
