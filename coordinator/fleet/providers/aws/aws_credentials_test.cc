// These tests check the chain of AWS credentials source by source: which source is asked, what is refused, and when a
// source is asked again.
#include "coordinator/fleet/providers/aws/aws_credentials.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/testing/temporary_folder_testing.h"
#include "coordinator/fleet/providers/testing/cloud_testing.h"

namespace rekindle::fleet {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr double kNow = 1'800'000'000;  // This Unix time is 2027-01-15T08:00:00Z.
constexpr char kSecret[] = "very/secret+key";

std::string Document(const std::string& id, const std::string& expiration) {
  return "{\"Code\": \"Success\", \"AccessKeyId\": \"" + id + "\", \"SecretAccessKey\": \"" + kSecret +
         "\", \"Token\": \"token\", \"Expiration\": \"" + expiration + "\"}";
}

class CredentialsTest : public testing::Test {
 protected:
  void SetUp() override { variables_ = {{"HOME", dir_}, {"AWS_EC2_METADATA_DISABLED", "true"}}; }
  absl::StatusOr<AwsKeys> Get() { return AwsCredentials(Fixed(variables_)).Get(kNow); }

  common::TemporaryFolder temporary_;
  const std::string dir_ = temporary_.path();
  std::map<std::string, std::string> variables_;
};

TEST_F(CredentialsTest, TheEnvironmentComesFirst) {
  variables_["AWS_ACCESS_KEY_ID"] = "AKID";
  variables_["AWS_SECRET_ACCESS_KEY"] = kSecret;
  variables_["AWS_SESSION_TOKEN"] = "t";
  EXPECT_EQ(Get()->id, "AKID");
  EXPECT_EQ(Get()->session, "t");
  variables_["AWS_SECRET_ACCESS_KEY"] = "with\nnewline";
  EXPECT_TRUE(absl::IsUnauthenticated(Get().status()));
  EXPECT_THAT(std::string(Get().status().message()), Not(HasSubstr("newline")));
}

TEST_F(CredentialsTest, ThenTheSharedFileWithItsProfiles) {
  std::filesystem::create_directory(dir_ + "/.aws");
  std::ofstream(dir_ + "/.aws/credentials") << "# mine\n[default]\naws_access_key_id = ONE\naws_secret_access_key=s\n\n"
                                               "[ work ]\naws_access_key_id=TWO\naws_secret_access_key = s2\n"
                                               "aws_session_token = t2\n";
  EXPECT_EQ(Get()->id, "ONE");
  variables_["AWS_PROFILE"] = "work";
  EXPECT_EQ(Get()->id, "TWO");
  EXPECT_EQ(Get()->session, "t2");
  variables_["AWS_PROFILE"] = "missing";
  EXPECT_THAT(std::string(Get().status().message()), HasSubstr("profile missing has no aws_access_key_id"));
}

TEST_F(CredentialsTest, ThenTheContainerWithItsToken) {
  FakeCloud cloud([](const httplib::Request& request, httplib::Response& response) {
    if (request.path != "/v1/creds" || request.get_header_value("Authorization") != "pod token") response.status = 403;
    response.set_content(Document("POD", "2027-01-15T09:00:00Z"), "application/json");
  });
  variables_["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = cloud.endpoint() + "/v1/creds";
  variables_["AWS_CONTAINER_AUTHORIZATION_TOKEN"] = "pod token";
  // An authorization token of two words is refused.
  EXPECT_TRUE(absl::IsUnauthenticated(Get().status()));
  variables_["AWS_CONTAINER_AUTHORIZATION_TOKEN"] = "token";
  EXPECT_TRUE(absl::IsPermissionDenied(Get().status()));
  variables_["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = "http://example.com/v1/creds";
  EXPECT_TRUE(absl::IsUnauthenticated(Get().status()));
}

TEST_F(CredentialsTest, AContainersTokenMayBeInAFile) {
  FakeCloud cloud([](const httplib::Request& request, httplib::Response& response) {
    if (request.get_header_value("Authorization") != "from-file") response.status = 403;
    response.set_content(Document("POD", "2027-01-15T09:00:00Z"), "application/json");
  });
  std::ofstream(dir_ + "/token") << "from-file\n";
  variables_["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = cloud.endpoint() + "/v1/creds";
  variables_["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"] = dir_ + "/token";
  const auto keys = Get();
  ASSERT_TRUE(keys.ok()) << keys.status();
  EXPECT_EQ(keys->id, "POD");
  EXPECT_EQ(keys->expires, kNow + 3600);
}

TEST_F(CredentialsTest, LastTheInstancesRoleRefreshedBeforeItExpires) {
  std::string expiration = "2027-01-15T09:00:00Z";
  FakeCloud cloud([&](const httplib::Request& request, httplib::Response& response) {
    const std::string folder = "/latest/meta-data/iam/security-credentials/";
    if (request.method == "PUT") return response.set_content("session", "text/plain");
    if (request.get_header_value("X-aws-ec2-metadata-token") != "session") {
      response.status = 401;
    } else if (request.path == folder) {
      response.set_content("node-role", "text/plain");
    } else if (request.path == folder + "node-role") {
      response.set_content(Document("ROLE", expiration), "application/json");
    } else {
      response.status = 404;
    }
  });
  variables_["AWS_EC2_METADATA_DISABLED"] = "";
  variables_["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = cloud.endpoint();
  AwsCredentials credentials(Fixed(variables_));
  EXPECT_EQ(credentials.Get(kNow)->id, "ROLE");
  cloud.TakeSeen();
  EXPECT_TRUE(credentials.Get(kNow + 3200).ok());
  EXPECT_TRUE(cloud.TakeSeen().empty());
  expiration = "2027-01-15T10:00:00Z";
  EXPECT_EQ(credentials.Get(kNow + 3400)->expires, kNow + 7200);
  EXPECT_FALSE(cloud.TakeSeen().empty());
  for (int i = 0; i < 3; ++i) cloud.Spoil(500, "");
  // Credentials that are still valid are used while the endpoint fails.
  EXPECT_EQ(credentials.Get(kNow + 7000)->id, "ROLE");
}

TEST_F(CredentialsTest, NobodyHasAny) {
  EXPECT_TRUE(absl::IsUnauthenticated(Get().status()));
  EXPECT_THAT(std::string(Get().status().message()), HasSubstr("AWS_PROFILE or an instance role"));
}

TEST(CredentialsDocument, WhatCannotBeIsNotShown) {
  for (const std::string& text :
       {std::string("[]"), std::string("{}"), Document("A", "tomorrow"), Document("A B", "")}) {
    const absl::Status status = ParseCredentialsDocument(text).status();
    EXPECT_TRUE(absl::IsUnauthenticated(status)) << text;
    EXPECT_THAT(std::string(status.message()), Not(HasSubstr(kSecret)));
  }
}

}  // namespace
}  // namespace rekindle::fleet
