#include "coordinator/server/loop/outage.h"

#include <gtest/gtest.h>

namespace rekindle::coordinator {
namespace {

TEST(Outage, TriesLessAndLessOftenUntilOneSucceeds) {
  Outage outage;
  EXPECT_TRUE(outage.MayTry(0));
  EXPECT_TRUE(outage.Failed(absl::UnavailableError("one"), 100));
  EXPECT_FALSE(outage.MayTry(100.05));
  EXPECT_TRUE(outage.MayTry(100.1));
  EXPECT_FALSE(outage.Failed(absl::UnavailableError("two"), 101));
  EXPECT_EQ(outage.error().message(), "two");
  EXPECT_DOUBLE_EQ(outage.retry_at(), 101.2);
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(outage.Failed(absl::UnavailableError("more"), 200));
  EXPECT_EQ(outage.retry_at(), 205);
  outage.End();
  EXPECT_FALSE(outage.lasts());
  EXPECT_TRUE(outage.MayTry(0));
  EXPECT_TRUE(outage.Failed(absl::UnavailableError("again"), 300));
  EXPECT_DOUBLE_EQ(outage.retry_at(), 300.1);
}

}  // namespace
}  // namespace rekindle::coordinator
