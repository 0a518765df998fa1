#include "kernels/optimizers/update.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "kernels/vector/bfloat16_element.h"
#include "kernels/vector/half_element.h"

namespace rekindle::kernels {
namespace {

// The size is no multiple of the parts in which arrays are updated.
constexpr size_t kSize = 10007;

struct Arrays {
  std::vector<float> weights, first, second;
};

std::vector<float> Normals(uint32_t seed, float scale) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, scale);
  std::vector<float> values(kSize);
  for (float& value : values) value = normal(random);
  return values;
}

Arrays Old() {
  Arrays old{Normals(1, 1), Normals(2, 0.1f), Normals(3, 0.1f)};
  for (float& value : old.second) value = std::abs(value);
  return old;
}

RekindleUpdate UpdateOf(RekindleOptimizer optimizer, const Arrays& old) {
  return {.optimizer = optimizer,
          .learning_rate = 1e-2,
          .weight_decay = 0.1,
          .beta1 = 0.9,
          .beta2 = 0.95,
          .epsilon = 1e-8,
          .momentum = 0.9,
          .step = 3,
          .scale = 0.25,
          .n = kSize,
          .weights = old.weights.data(),
          .first_moment = old.first.data(),
          .second_moment = old.second.data()};
}

void WriteTo(Arrays& out, RekindleUpdate* update) {
  update->new_weights = out.weights.data();
  update->new_first_moment = out.first.data();
  update->new_second_moment = out.second.data();
}

class UpdateTest : public testing::TestWithParam<std::pair<RekindleOptimizer, bool>> {
 protected:
  // Returns the update with a gradient in float32, or in fixed point.
  RekindleUpdate Make(const Arrays& old) const {
    RekindleUpdate update = UpdateOf(GetParam().first, old);
    if (GetParam().second) {
      update.fixed = fixed_.data();
      update.scale *= 0x1p-20;
    } else {
      update.values = values_.data();
    }
    return update;
  }

  const std::vector<float> values_ = Normals(4, 1);
  const std::vector<int64_t> fixed_ = [this] {
    std::vector<int64_t> fixed(kSize);
    for (size_t i = 0; i < kSize; ++i) fixed[i] = std::llrint(std::ldexp(static_cast<double>(values_[i]), 20));
    return fixed;
  }();
};

// Whatever is kept of the new values, and wherever they are written, they have the same bits.
TEST_P(UpdateTest, WritesTheSameInPlaceAndBeside) {
  const Arrays old = Old();
  Arrays in_place = old;
  RekindleUpdate update = Make(in_place);
  WriteTo(in_place, &update);
  Update(update);
  EXPECT_NE(in_place.weights, old.weights);
  EXPECT_NE(in_place.first, old.first);

  Arrays beside{std::vector<float>(kSize), std::vector<float>(kSize), std::vector<float>(kSize)};
  update = Make(old);
  WriteTo(beside, &update);
  Update(update);
  EXPECT_EQ(beside.weights, in_place.weights);
  EXPECT_EQ(beside.first, in_place.first);
  EXPECT_EQ(beside.second, in_place.second);

  std::vector<float> weights(kSize);
  update = Make(old);
  update.new_weights = weights.data();
  Update(update);
  EXPECT_EQ(weights, in_place.weights);
}

TEST_P(UpdateTest, RoundsTheNewWeights) {
  Arrays arrays = Old();
  std::vector<uint16_t> bf16(kSize), fp16(kSize);
  RekindleUpdate update = Make(arrays);
  WriteTo(arrays, &update);
  update.bf16 = bf16.data();
  update.fp16 = fp16.data();
  Update(update);
  for (size_t i = 0; i < kSize; ++i) {
    ASSERT_EQ(bf16[i], common::ToBf16(arrays.weights[i])) << i;
    ASSERT_EQ(fp16[i], ToFp16(arrays.weights[i])) << i;
  }
  // The weights need not be kept to be rounded.
  const Arrays old = Old();
  std::vector<uint16_t> alone(kSize);
  update = Make(old);
  update.bf16 = alone.data();
  Update(update);
  EXPECT_EQ(alone, bf16);
}

// An update of a part has the bits of an update of the whole.
TEST_P(UpdateTest, AnyPartHasTheSameBits) {
  constexpr size_t kBegin = 4093, kCount = 4111;
  const Arrays old = Old();
  Arrays whole = old, part = old;
  RekindleUpdate update = Make(old);
  WriteTo(whole, &update);
  Update(update);
  update.weights += kBegin;
  update.first_moment += kBegin;
  update.second_moment += kBegin;
  if (update.fixed != nullptr) update.fixed += kBegin;
  if (update.values != nullptr) update.values += kBegin;
  WriteTo(part, &update);
  update.new_weights += kBegin;
  update.new_first_moment += kBegin;
  update.new_second_moment += kBegin;
  update.n = kCount;
  Update(update);
  for (size_t i = 0; i < kSize; ++i) {
    const bool is_in = i >= kBegin && i < kBegin + kCount;
    ASSERT_EQ(part.weights[i], (is_in ? whole : old).weights[i]) << i;
    ASSERT_EQ(part.first[i], (is_in ? whole : old).first[i]) << i;
  }
}

std::vector<std::pair<RekindleOptimizer, bool>> All() {
  std::vector<std::pair<RekindleOptimizer, bool>> all;
#define REKINDLE_ADD(Name)                  \
  all.emplace_back(kRekindle##Name, false); \
  all.emplace_back(kRekindle##Name, true);
  REKINDLE_ELEMENTWISE_OPTIMIZERS(REKINDLE_ADD)
#undef REKINDLE_ADD
  return all;
}

INSTANTIATE_TEST_SUITE_P(Optimizers, UpdateTest, testing::ValuesIn(All()));

}  // namespace
}  // namespace rekindle::kernels
