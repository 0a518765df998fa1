#include "common/agreed/cluster_identity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rekindle::common {
namespace {

using testing::HasSubstr;

const char kOne[] = "00112233445566778899aabbccddeeff";
const char kOther[] = "ffeeddccbbaa99887766554433221100";

TEST(ClusterIdentity, IsWrittenAndReadBack) {
  const ClusterIdentity made = NewCluster();
  EXPECT_EQ(made.epoch, 1);
  EXPECT_NE(made, NewCluster());
  const auto read = ParseClusterIdentity(Describe(made));
  ASSERT_TRUE(read.ok()) << Describe(made);
  EXPECT_EQ(*read, made);
  EXPECT_EQ(Describe({kOne, 7, 0xab}), "00112233445566778899aabbccddeeff/7-00000000000000ab");
}

TEST(ClusterIdentity, NothingElseIsOne) {
  const std::string sound = Describe({kOne, 7, 0xab});
  for (const std::string& text : {std::string(), std::string("/"), sound + "0", sound + "\n", " " + sound,
                                  Describe({kOne, 0, 1}), Describe({kOne, -1, 1}), Describe({"", 1, 1}),
                                  Describe({"0123", 1, 1}), Describe({std::string(32, 'X'), 1, 1})}) {
    EXPECT_FALSE(ParseClusterIdentity(text).ok()) << text;
  }
}

TEST(ClusterIdentity, TheNextEpochIsLaterThanAllThatWereHeardOf) {
  const ClusterIdentity one{kOne, 3, ~uint64_t{0}}, heard{kOne, 9, ~uint64_t{0}};
  EXPECT_EQ(NextEpoch(one, {}).epoch, 4);
  EXPECT_EQ(NextEpoch(one, {kOne, 2, 0}).epoch, 4);
  const ClusterIdentity next = NextEpoch(one, heard);
  EXPECT_EQ(next.cluster, kOne);
  EXPECT_EQ(next.epoch, 10);
  EXPECT_NE(next, NextEpoch(one, heard)) << "two copies begin two epochs";
  EXPECT_TRUE(IsLater(next, heard));
  EXPECT_FALSE(IsLater(heard, next));
  EXPECT_FALSE(IsLater(next, next));
}

TEST(KnownCluster, TheFirstOneIsRememberedAndNoOtherObeyed) {
  KnownCluster known;
  EXPECT_TRUE(known.Obeys({})) << "a coordinator of an older release, and a node that knows none";
  EXPECT_TRUE(known.Obeys({kOne, 1, 5}));
  EXPECT_FALSE(known.Obeys({kOther, 9, 9}));
  EXPECT_THAT(known.WhyNot({kOther, 9, 9}), HasSubstr(kOther));
  EXPECT_FALSE(known.Obeys({}));
  EXPECT_THAT(known.WhyNot({}), HasSubstr("no cluster"));
  EXPECT_EQ(known.known(), (ClusterIdentity{kOne, 1, 5}));
}

TEST(KnownCluster, EpochsOnlyRise) {
  KnownCluster known({kOne, 3, 50});
  EXPECT_TRUE(known.Obeys({kOne, 3, 50}));
  EXPECT_FALSE(known.Obeys({kOne, 2, 90}));
  EXPECT_FALSE(known.Obeys({kOne, 3, 49})) << "another copy of the same backup";
  EXPECT_TRUE(known.Obeys({kOne, 3, 51}));
  EXPECT_FALSE(known.Obeys({kOne, 3, 50}));
  EXPECT_TRUE(known.Obeys({kOne, 4, 0}));
  EXPECT_THAT(known.WhyNot({kOne, 3, 51}), HasSubstr("of the past"));
}

}  // namespace
}  // namespace rekindle::common
