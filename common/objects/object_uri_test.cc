#include "common/objects/object_uri.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rekindle::common {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(ObjectUriTest, Files) {
  const auto uri = ParseObjectUri("file:///a/b c/");
  ASSERT_TRUE(uri.ok());
  EXPECT_EQ(uri->kind, ObjectUri::Kind::kFile);
  EXPECT_EQ(uri->folder, "/a/b c");
}

TEST(ObjectUriTest, Clouds) {
  const auto s3 = ParseObjectUri("s3://bucket/a/b/?endpoint_override=127.0.0.1:8333&scheme=http&region=eu-west-1");
  ASSERT_TRUE(s3.ok()) << s3.status();
  EXPECT_EQ(s3->kind, ObjectUri::Kind::kS3);
  EXPECT_EQ(s3->bucket + "|" + s3->prefix + "|" + s3->endpoint + "|" + s3->scheme + "|" + s3->region,
            "bucket|a/b|127.0.0.1:8333|http|eu-west-1");
  const auto gs = ParseObjectUri("gs://my.bucket?anonymous=true");
  ASSERT_TRUE(gs.ok()) << gs.status();
  EXPECT_EQ(gs->bucket + "|" + gs->prefix, "my.bucket|");
  EXPECT_TRUE(gs->anonymous);
  for (const char* text : {"abfs://box@account.dfs.core.windows.net/p", "abfss://box@account/p"}) {
    const auto azure = ParseObjectUri(text);
    ASSERT_TRUE(azure.ok()) << azure.status();
    EXPECT_EQ(azure->bucket + "|" + azure->account + "|" + azure->prefix, "box|account|p");
  }
}

TEST(ObjectUriTest, WhatCannotBeRightIsRefused) {
  for (const char* bad : {"",
                          "/a/b",
                          "file://",
                          "file://host/a",
                          "file:a",
                          "file:///",
                          "file:///a\n",
                          "s3:bucket",
                          "s3://",
                          "s3:///a",
                          "s3://b",
                          "s3://../x",
                          "s3://bucket/../x",
                          "s3://bucket//x",
                          "s3://bucket/a\n",
                          "s3://bucket/a%2e%2e",
                          "s3://bucket?scheme=http",
                          "s3://bucket?scheme=ftp&endpoint_override=h:1",
                          "s3://bucket?endpoint_override=h:0",
                          "s3://bucket?endpoint_override=h/x",
                          "s3://bucket?anonymous=1",
                          "gs://bucket?region=x1",
                          "ftp://somewhere",
                          "abfs://account/x",
                          "abfs://box@a.b.example/x",
                          "http://bucket"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseObjectUri(bad).status())) << bad;
  }
  EXPECT_THAT(std::string(ParseObjectUri("s3://bucket?regoin=x1").status().message()),
              HasSubstr("did you mean `region`"));
}

TEST(ObjectUriTest, CredentialsAreRefusedAndNotRepeated) {
  for (const char* bad : {"s3://AKSECRET:hush@bucket/p", "s3://bucket?access_key=hush", "gs://u:hush@bucket",
                          "abfs://box@account/p?sig=hush", "abfs://box:hush@account/p", "s3://bucket?x=hush",
                          "abfs://:hush@account.dfs.core.windows.net/box"}) {
    const std::string message(ParseObjectUri(bad).status().message());
    EXPECT_THAT(message, Not(HasSubstr("hush"))) << bad;
    EXPECT_THAT(message, Not(HasSubstr("AKSECRET"))) << bad;
    EXPECT_THAT(message, HasSubstr("not supported")) << bad;
  }
}

}  // namespace
}  // namespace rekindle::common
