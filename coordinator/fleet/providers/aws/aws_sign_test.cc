// These tests compare the signatures of requests with test vectors that AWS publishes.
#include "coordinator/fleet/providers/aws/aws_sign.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rekindle::fleet {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

constexpr double kAugust30 = 1440938160;  // This Unix time is 2015-08-30T12:36:00Z.
AwsKeys Keys() { return {.id = "AKIDEXAMPLE", .secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"}; }

// The request is the vector get-vanilla of AWS's test suite of Signature Version 4.
TEST(AwsSign, GetVanilla) {
  common::HttpRequest request{.path = "/", .headers = {{"Host", "example.amazonaws.com"}}};
  SignAws(Keys(), "us-east-1", "service", kAugust30, request);
  EXPECT_EQ(request.headers["X-Amz-Date"], "20150830T123600Z");
  EXPECT_EQ(request.headers["Authorization"],
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
            "SignedHeaders=host;x-amz-date, "
            "Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
}

// The request is the vector post-x-www-form-urlencoded of AWS's test suite of Signature Version 4.
TEST(AwsSign, PostForm) {
  common::HttpRequest request{
      .method = "POST",
      .path = "/",
      .headers = {{"Host", "example.amazonaws.com"}, {"Content-Type", "application/x-www-form-urlencoded"}},
      .body = "Param1=value1"};
  SignAws(Keys(), "us-east-1", "service", kAugust30, request);
  EXPECT_THAT(request.headers["Authorization"],
              EndsWith("SignedHeaders=content-type;host;x-amz-date, "
                       "Signature=ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"));
}

// The request is the example of AWS's user guide, which has a query.
TEST(AwsSign, ListUsersOfTheUserGuide) {
  common::HttpRequest request{
      .path = "/?Action=ListUsers&Version=2010-05-08",
      .headers = {{"Host", "iam.amazonaws.com"}, {"Content-Type", "application/x-www-form-urlencoded; charset=utf-8"}}};
  SignAws(Keys(), "us-east-1", "iam", kAugust30, request);
  EXPECT_THAT(request.headers["Authorization"],
              EndsWith("Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"));
}

TEST(AwsSign, ASessionIsSignedToo) {
  common::HttpRequest request{.path = "/", .headers = {{"Host", "h"}}};
  AwsKeys keys = Keys();
  keys.session = "token";
  SignAws(keys, "us-east-1", "s", kAugust30, request);
  EXPECT_EQ(request.headers["X-Amz-Security-Token"], "token");
  EXPECT_THAT(request.headers["Authorization"], HasSubstr("SignedHeaders=host;x-amz-date;x-amz-security-token"));
}

}  // namespace
}  // namespace rekindle::fleet
