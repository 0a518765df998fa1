#include "worker/train/program/stop_request.h"

#include <gtest/gtest.h>

namespace rekindle::train {
namespace {

TEST(StopRequest, ReachesWhatIsThereAndWhatComesLater) {
  StopRequest stop;
  EXPECT_FALSE(stop.made());
  int early = 0, late = 0;
  stop.Follow([&] { ++early; });
  EXPECT_EQ(early, 0);
  stop.Make();
  EXPECT_TRUE(stop.made());
  EXPECT_EQ(early, 1);
  stop.Follow([&] { ++late; });
  EXPECT_EQ(late, 1);
  EXPECT_EQ(early, 1);
}

TEST(StopRequest, IsKeptWhereNothingFollows) {
  StopRequest stop;
  int calls = 0;
  stop.Follow([&] { ++calls; });
  stop.Follow(nullptr);
  stop.Make();
  EXPECT_EQ(calls, 0);
  EXPECT_TRUE(stop.made());
}

}  // namespace
}  // namespace rekindle::train
