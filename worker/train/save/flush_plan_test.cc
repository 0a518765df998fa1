#include "worker/train/save/flush_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rekindle::train {
namespace {

using testing::HasSubstr;

constexpr int64_t kMega = 1'000'000;

FlushSituation Typical() {
  return {.seconds_left = 30, .plane0_bytes = 1000 * kMega, .plane1_bytes = 1000 * kMega, .bytes_per_second = 100e6};
}

TEST(FlushPlanTest, BothPlanesWhereBothFit) {
  const FlushDecision decision = PlanFlush(Typical());
  EXPECT_EQ(decision.plan, FlushPlan::kBothPlanes);
  EXPECT_EQ(decision.reason,
            "both planes (2000.0 MB a rank) take 20.0 s at the measured 100.0 MB/s a rank, with 30.0 s left of which "
            "21.0 s count");
}

TEST(FlushPlanTest, PlaneZeroAloneInTheShortWarning) {
  FlushSituation situation = Typical();
  situation.seconds_left = 16;
  const FlushDecision decision = PlanFlush(situation);
  EXPECT_EQ(decision.plan, FlushPlan::kPlane0);
  EXPECT_THAT(decision.reason, HasSubstr("plane 0 alone (1000.0 MB a rank) takes 10.0 s, both would take 20.0 s"));
}

TEST(FlushPlanTest, NothingThatCannotEndInTime) {
  FlushSituation situation = Typical();
  situation.seconds_left = 10;
  FlushDecision decision = PlanFlush(situation);
  EXPECT_EQ(decision.plan, FlushPlan::kNothing);
  EXPECT_THAT(decision.reason, HasSubstr("no flush: plane 0 (1000.0 MB a rank) takes 10.0 s"));
  situation.seconds_left = 1;
  decision = PlanFlush(situation);
  EXPECT_EQ(decision.plan, FlushPlan::kNothing);
  EXPECT_EQ(decision.reason, "no flush: of the 1.0 s left, 2 s go to the step and the manifest");
  situation.bytes_per_second = 0;
  EXPECT_EQ(PlanFlush(situation).plan, FlushPlan::kNothing);
}

TEST(FlushPlanTest, WithoutAMeasurementPlaneZeroIsTried) {
  FlushSituation situation = Typical();
  situation.bytes_per_second = 0;
  const FlushDecision decision = PlanFlush(situation);
  EXPECT_EQ(decision.plan, FlushPlan::kPlane0);
  EXPECT_THAT(decision.reason, HasSubstr("has not been measured"));
}

TEST(FlushPlanTest, AJobWithoutPlaneOneNeverAsksForIt) {
  FlushSituation situation = Typical();
  situation.plane1_bytes = 0;
  const FlushDecision decision = PlanFlush(situation);
  EXPECT_EQ(decision.plan, FlushPlan::kPlane0);
  EXPECT_THAT(decision.reason, HasSubstr("plane 0, all there is"));
}

TEST(FlushPlanTest, AnExactJobGetsBothPlanesOrNothing) {
  FlushSituation situation = Typical();
  situation.exact_only = true;
  EXPECT_EQ(PlanFlush(situation).plan, FlushPlan::kBothPlanes);
  // The time is enough to save plane 0, but this job must be exact, so it could not go on from plane 0 alone.
  situation.seconds_left = 16;
  const FlushDecision decision = PlanFlush(situation);
  EXPECT_EQ(decision.plan, FlushPlan::kNothing);
  EXPECT_THAT(decision.reason, HasSubstr("the job must be exact, and both planes (2000.0 MB a rank) take 20.0 s"));
  situation.bytes_per_second = 0;
  EXPECT_EQ(PlanFlush(situation).plan, FlushPlan::kBothPlanes);
}

// A plan that has more time never saves less.
TEST(FlushPlanTest, IsMonotonous) {
  FlushSituation situation = Typical();
  int before = 0;
  for (situation.seconds_left = 0; situation.seconds_left < 60; situation.seconds_left += 0.5) {
    const int plan = static_cast<int>(PlanFlush(situation).plan);
    EXPECT_GE(plan, before) << situation.seconds_left;
    before = plan;
  }
  EXPECT_EQ(before, static_cast<int>(FlushPlan::kBothPlanes));
}

}  // namespace
}  // namespace rekindle::train
