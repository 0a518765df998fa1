#include "common/spec/flag_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rekindle::common {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

std::string Refusal(const CLI::Validator& check, std::string text) { return check(text); }

TEST(FlagValuesTest, NumbersAreRefusedInWordsThatFitALine) {
  EXPECT_EQ(Refusal(WholeNumber(1, 64), "64"), "");
  EXPECT_EQ(Refusal(WholeNumber(1, 64), "65"), "must be a whole number, from 1 to 64, not '65'");
  EXPECT_EQ(Refusal(WholeNumber(0), "1.5"), "must be a whole number, 0 or more, not '1.5'");
  EXPECT_EQ(Refusal(NumberFrom(0), "0"), "");
  EXPECT_EQ(Refusal(NumberFrom(0), "-5"), "must be a number, 0 or more, not '-5'");
  EXPECT_EQ(Refusal(NumberFrom(1, 3600), "1e9"), "must be a number, from 1 to 3600, not '1e9'");
  EXPECT_EQ(Refusal(NumberAbove(0), "0"), "must be a number above 0, not '0'");
  for (const char* odd : {"nan", "inf", "", "x", "0x10 "}) {
    EXPECT_NE(Refusal(NumberFrom(0), odd), "") << odd;
    EXPECT_NE(Refusal(WholeNumber(0), odd), "") << odd;
  }
  EXPECT_THAT(Refusal(WholeNumber(0), std::string(5000, '9')), SizeIs(testing::Lt(130)));
}

TEST(FlagValuesTest, OneOfNamesTheValuesAndTheNearest) {
  const CLI::Validator check = OneOf({"text", "wide", "json"});
  EXPECT_EQ(Refusal(check, "json"), "");
  EXPECT_EQ(Refusal(check, "jsno"), "must be text or wide or json, not 'jsno'; did you mean json?");
  EXPECT_EQ(Refusal(check, "something"), "must be text or wide or json, not 'something'");
  EXPECT_EQ(check.get_description(), "{text,wide,json}");
}

TEST(FlagValuesTest, SecondsAreTakenWithAUnitAndWithout) {
  const auto seconds = [](std::string text) {
    EXPECT_EQ(Seconds(0, 1e6)(text), "");
    return text;
  };
  EXPECT_EQ(seconds("90s"), "90");
  EXPECT_EQ(seconds("1.5h"), "5400");
  EXPECT_EQ(seconds("2d"), "172800");
  EXPECT_EQ(seconds("30"), "30");
  EXPECT_THAT(Refusal(Seconds(), "5 minutes"), HasSubstr("as 90s, 5m, 1.5h or 2d"));
  EXPECT_EQ(Refusal(Seconds(1, 60), "2m"), "must be from 1 to 60 seconds, not '2m'");
  EXPECT_EQ(Refusal(Seconds(), "-1"), "must be 0 or more seconds, not '-1'");
}

TEST(FlagValuesTest, BytesAreTakenWithAUnitAndWithout) {
  const auto bytes = [](std::string text) {
    EXPECT_EQ(Bytes(1)(text), "");
    return text;
  };
  EXPECT_EQ(bytes("5KB"), "5120");
  EXPECT_EQ(bytes("1MiB"), "1048576");
  EXPECT_EQ(bytes("17"), "17");
  for (const char* odd : {"", "5 furlongs", "-1", "1.5GB", "99999999999999999999GB"}) {
    EXPECT_THAT(Refusal(Bytes(1), odd), HasSubstr("must be a size, as 512MiB or 5GB")) << odd;
  }
  EXPECT_EQ(Refusal(Bytes(1, 100), "1KB"), "must be from 1 to 100 bytes, not '1KB'");
}

}  // namespace
}  // namespace rekindle::common
