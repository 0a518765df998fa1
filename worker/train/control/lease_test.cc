#include "worker/train/control/lease.h"

#include <gtest/gtest.h>

#include <limits>

namespace rekindle::train {
namespace {

class LeaseTest : public testing::Test {
 protected:
  double now_ = 1000;
  Lease lease_{[this] { return now_; }};
};

TEST_F(LeaseTest, CountsFromTheSendingOfTheNewestAnsweredRequest) {
  EXPECT_FALSE(lease_.Holds(1));
  // The lease counts from 990, when the request was sent, although the answer comes only at 1000.
  lease_.Begin(1, 600, 990);
  now_ = 1589.9;
  EXPECT_TRUE(lease_.Holds(1));
  now_ = 1590;
  EXPECT_FALSE(lease_.Holds(1));
  lease_.Renew(1, 1580);
  EXPECT_TRUE(lease_.Holds(1));
  // The answer to a request sent at 1570 comes late and must not shorten the lease.
  lease_.Renew(1, 1570);
  now_ = 2179.9;
  EXPECT_TRUE(lease_.Holds(1));
  now_ = 2180;
  EXPECT_FALSE(lease_.Holds(1));
}

TEST_F(LeaseTest, AnAnswerOfAnotherGenerationRenewsNothing) {
  lease_.Begin(4, 60, 1000);
  lease_.Renew(3, 1050);
  lease_.Renew(5, 1050);
  now_ = 1060;
  EXPECT_FALSE(lease_.Holds(4));
  lease_.Begin(5, 60, 1060);
  EXPECT_FALSE(lease_.Holds(4));
  EXPECT_TRUE(lease_.Holds(5));
  // Generation 4 is older than generation 5, whose lease has begun already, so its announcement is ignored.
  lease_.Begin(4, 60, 1060);
  EXPECT_TRUE(lease_.Holds(5));
}

TEST_F(LeaseTest, WithoutALimitItHoldsForEver) {
  lease_.Begin(2, 0, 1000);
  now_ = 1e9;
  EXPECT_TRUE(lease_.Holds(2));
}

TEST_F(LeaseTest, NobodyStepsWhenTheJobMaySpendNoMore) {
  lease_.Begin(2, 0, 1000);
  lease_.Spend(60, 995);
  EXPECT_TRUE(lease_.MaySpend());
  now_ = 1054.9;
  EXPECT_TRUE(lease_.Holds(2));
  now_ = 1055;
  EXPECT_FALSE(lease_.Holds(2));
  EXPECT_FALSE(lease_.MaySpend());
  // The answer to the request sent at 990 was overtaken by a newer answer and is ignored.
  lease_.Spend(600, 990);
  EXPECT_FALSE(lease_.MaySpend());
  lease_.Spend(60, 1050);
  EXPECT_TRUE(lease_.Holds(2));
  lease_.Spend(std::numeric_limits<double>::infinity(), 1060);
  now_ = 1e9;
  EXPECT_TRUE(lease_.Holds(2));
}

}  // namespace
}  // namespace rekindle::train
