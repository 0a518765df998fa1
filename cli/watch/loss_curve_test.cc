#include "cli/watch/loss_curve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

namespace rekindle::cli {
namespace {

using testing::Each;
using testing::ElementsAre;
using Points = google::protobuf::RepeatedPtrField<v1::LossPoint>;

// Sixteen of the `kColumns` columns are for the curve.
constexpr int kColumns = 28;

Points Of(const std::vector<std::pair<int, double>>& values) {
  Points points;
  for (const auto& [step, value] : values) {
    v1::LossPoint* point = points.Add();
    point->set_step(step);
    point->set_value(value);
  }
  return points;
}

const auto kFalling = ElementsAre("16          █▇▆▅▄▃▂▁        ",  //
                                  "1           █████████▇▆▅▄▃▂▁",  //
                                  "            step 1        16");

TEST(LossCurveTest, APointAColumn) {
  Points points;
  for (int step = 1; step <= 16; ++step) points.MergeFrom(Of({{step, 17 - step}}));
  EXPECT_THAT(LossCurve(points, kColumns, 3), kFalling);
}

TEST(LossCurveTest, BetweenTwoPointsIsALine) { EXPECT_THAT(LossCurve(Of({{1, 16}, {16, 1}}), kColumns, 3), kFalling); }

TEST(LossCurveTest, OfManyPointsInAColumnTheMean) {
  Points points;
  for (int step = 1; step <= 16; ++step) {
    points.MergeFrom(Of({{100 * step - 1, 17 - step - 0.25}, {100 * step + 1, 17 - step + 0.25}}));
  }
  EXPECT_THAT(LossCurve(points, kColumns, 3), ElementsAre("16          █▇▆▅▄▃▂▁        ",  //
                                                          "1           █████████▇▆▅▄▃▂▁",  //
                                                          "            step 99     1601"));
}

TEST(LossCurveTest, WhatIsNoNumberIsLeftOut) {
  EXPECT_THAT(LossCurve(Of({{1, 16}, {5, std::nan("")}, {9, INFINITY}, {16, 1}}), kColumns, 3), kFalling);
}

TEST(LossCurveTest, AFlatOneIsLow) {
  EXPECT_THAT(LossCurve(Of({{1, 2}, {2, 2}}), kColumns, 3), ElementsAre("2                           ",  //
                                                                        "2           ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁",  //
                                                                        "            step 1         2"));
}

TEST(LossCurveTest, EmptyWhereThereIsNoCurve) {
  EXPECT_THAT(LossCurve(Of({}), kColumns, 4), testing::AllOf(testing::SizeIs(4), Each("")));
  EXPECT_THAT(LossCurve(Of({{3, 1}}), kColumns, 4), Each(""));
  EXPECT_THAT(LossCurve(Of({{3, 1}, {3, 2}}), kColumns, 4), Each(""));
  EXPECT_THAT(LossCurve(Of({{3, 1}, {2, 2}}), kColumns, 4), Each(""));
  EXPECT_THAT(LossCurve(Of({{1, std::nan("")}, {2, 2}}), kColumns, 4), Each(""));
}

}  // namespace
}  // namespace rekindle::cli
