#include "common/objects/object_errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/time/retry.h"

namespace rekindle::common {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(ObjectErrorsTest, TextsOfTheCloudsGetTheirCode) {
  const auto code = [](const char* text) { return ObjectError("cannot read a/b", text).code(); };
  EXPECT_EQ(code("AWS Error ACCESS_DENIED during HeadObject operation: No response body."),
            absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(code("AWS Error UNKNOWN (HTTP status 403) during GetObject"), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(code("AWS Error SLOW_DOWN during PutObject: Please reduce your request rate"),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(code("google::cloud::Status(UNAUTHENTICATED: ...)"), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(code("AWS Error NETWORK_CONNECTION: curlCode: 56, Recv failure"), absl::StatusCode::kUnavailable);
  EXPECT_EQ(code("AWS Error UNKNOWN (HTTP status 503)"), absl::StatusCode::kUnavailable);
  EXPECT_EQ(code("InvalidPart: One or more of the specified parts could not be found"), absl::StatusCode::kDataLoss);
  EXPECT_EQ(code("anything new"), absl::StatusCode::kUnavailable);
}

TEST(ObjectErrorsTest, SaysWhatToDo) {
  EXPECT_THAT(std::string(ObjectError("x", "RequestTimeTooSkewed").message()), HasSubstr("clock"));
  EXPECT_THAT(std::string(ObjectError("x", "ExpiredToken: The provided token has expired").message()),
              HasSubstr("renew"));
}

TEST(ObjectErrorsTest, AMissingBucketIsNeitherAnAbsentObjectNorTriedAgain) {
  for (const char* text : {"AWS Error NO_SUCH_BUCKET during PutObject", "ContainerNotFound", "NoSuchBucket"}) {
    const absl::Status status = ObjectError("cannot write a", text);
    EXPECT_TRUE(absl::IsUnavailable(status)) << status;
    EXPECT_FALSE(IsTransient(status));
    EXPECT_THAT(std::string(status.message()), HasSubstr("create it"));
  }
}

TEST(ObjectErrorsTest, SecretsAreTakenOut) {
  const std::string clean = WithoutSecrets(
      "GET https://h/b?X-Amz-Credential=AKIAQ/2026/s3&X-Amz-Signature=abc123def&part=3 failed\r\n"
      "with sv=2024&sig=Zm9v%3D; AccountKey=c2VjcmV0==; Authorization: AWS4-HMAC-SHA256 Credential=AKIAZ");
  for (const char* secret : {"AKIAQ", "abc123def", "Zm9v", "c2VjcmV0", "AKIAZ", "HMAC", "\r", "\n"}) {
    EXPECT_THAT(clean, Not(HasSubstr(secret)));
  }
  EXPECT_THAT(clean, HasSubstr("part=3 failed with"));
  EXPECT_LE(WithoutSecrets(std::string(1 << 20, 'x')).size(), 300u);
}

}  // namespace
}  // namespace rekindle::common
