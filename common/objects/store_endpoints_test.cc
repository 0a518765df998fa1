#include "common/objects/store_endpoints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rekindle::common {
namespace {

using testing::HasSubstr;

absl::Status Check(const std::vector<std::string>& listed, bool on_loopback, const std::string& endpoint) {
  const auto endpoints = StoreEndpoints::Create(listed, on_loopback);
  EXPECT_TRUE(endpoints.ok()) << endpoints.status();
  const auto uri = ParseObjectUri("s3://bucket/a?endpoint_override=" + endpoint);
  EXPECT_TRUE(uri.ok()) << uri.status();
  return endpoints->Check(*uri);
}

TEST(StoreEndpoints, OnlyListedServersMayBeNamed) {
  EXPECT_EQ(Check({}, false, "evil.example").code(), absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(std::string(Check({}, false, "evil.example:1").message()),
              AllOf(HasSubstr("evil.example:1"), HasSubstr("--store-endpoint")));
  EXPECT_TRUE(Check({"minio.example:9000"}, false, "minio.example:9000").ok());
  EXPECT_TRUE(Check({"MinIO.example"}, false, "minio.EXAMPLE:9000").ok()) << "any port, any case";
  for (const char* other : {"minio.example", "minio.example:9001", "minio.example.evil:9000", "xminio.example:9000"}) {
    EXPECT_FALSE(Check({"minio.example:9000"}, false, other).ok()) << other;
  }
}

TEST(StoreEndpoints, LoopbackIsListedWhereAllIsOnOneMachine) {
  for (const char* local : {"127.0.0.1:8333", "127.9.9.9", "localhost:80", "LOCALHOST:80"}) {
    EXPECT_TRUE(Check({}, true, local).ok()) << local;
    EXPECT_FALSE(Check({}, false, local).ok()) << local;
  }
  for (const char* other : {"127.0.0.1.evil.example:80", "localhost.evil.example", "10.0.0.1:80", "0.0.0.0:80"}) {
    EXPECT_FALSE(Check({}, true, other).ok()) << other;
  }
}

TEST(StoreEndpoints, WhatNamesNoServerIsFree) {
  const auto none = StoreEndpoints::Create({}, false);
  ASSERT_TRUE(none.ok());
  for (const char* uri : {"s3://bucket/a?region=eu-west-1", "gs://bucket", "file:///folder"}) {
    EXPECT_TRUE(none->Check(*ParseObjectUri(uri)).ok()) << uri;
  }
  EXPECT_TRUE(StoreEndpoints().Check(*ParseObjectUri("s3://bucket?endpoint_override=any.example")).ok());
}

TEST(StoreEndpoints, AnEntryThatIsNoneIsNamed) {
  for (const char* wrong : {"", "https://minio.example", "minio.example:0", "minio.example/x", "a b"}) {
    const auto endpoints = StoreEndpoints::Create({wrong}, false);
    EXPECT_EQ(endpoints.status().code(), absl::StatusCode::kInvalidArgument) << wrong;
    EXPECT_THAT(std::string(endpoints.status().message()), HasSubstr("--store-endpoint"));
  }
}

}  // namespace
}  // namespace rekindle::common
