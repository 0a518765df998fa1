// Tests the source of EC2's interruption notices with the documents of Amazon's user guide, and with session tokens.
#include "worker/agent/notices/aws_notices.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/testing/http_testing.h"

namespace rekindle::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kAction[] = R"({"action": "terminate", "time": "2017-09-18T08:22:00Z"})";
constexpr double kActionTime = 1505722920;

// Acts as EC2's instance metadata service, version 2.
class AwsTest : public ::testing::Test {
 protected:
  AwsTest() {
    service_.answer = [this](const common::HttpRequest& request) -> absl::StatusOr<common::HttpAnswer> {
      if (request.method == "PUT") {
        EXPECT_EQ(request.path, "/latest/api/token");
        EXPECT_EQ(request.headers.at("X-aws-ec2-metadata-token-ttl-seconds"), "21600");
        ++tokens_;
        return common::HttpAnswer{.status = token_status_, .body = token_};
      }
      if (request.headers.at("X-aws-ec2-metadata-token") != token_ || refuse_all_)
        return common::HttpAnswer{.status = 401};
      const auto found = documents_.find(request.path);
      if (found == documents_.end()) return common::HttpAnswer{.status = 404, .body = "<html>not found</html>"};
      return common::HttpAnswer{.status = 200, .body = found->second};
    };
  }

  common::FakeService service_;
  std::map<std::string, std::string> documents_;
  std::string token_ = "AQAEAL==";
  int token_status_ = 200;
  int tokens_ = 0;
  bool refuse_all_ = false;
};

TEST_F(AwsTest, WithoutDocumentsNothingStands) {
  const auto source = NewAwsSource(service_.Open());
  EXPECT_THAT(*source->Poll(0), IsEmpty());
  // The EC2 source asks for one token and three documents.
  EXPECT_EQ(service_.requests.size(), 4u);
}

TEST_F(AwsTest, AllThreeDocumentsAreHeard) {
  documents_["/latest/meta-data/spot/instance-action"] = kAction;
  documents_["/latest/meta-data/events/recommendations/rebalance"] = R"({"noticeTime": "2020-10-27T08:22:00Z"})";
  documents_["/latest/meta-data/events/maintenance/scheduled"] = R"([
    {"NotBefore" : "21 Jan 2019 09:00:43 GMT", "Code" : "system-reboot", "Description" : "scheduled reboot",
     "EventId" : "instance-event-0d59937288b749b32", "NotAfter" : "21 Jan 2019 09:17:23 GMT", "State" : "active"}])";
  const auto notices = NewAwsSource(service_.Open())->Poll(0);
  ASSERT_TRUE(notices.ok()) << notices.status();
  ASSERT_EQ(notices->size(), 3u);
  EXPECT_EQ((*notices)[0].what, "spot interruption (terminate)");
  EXPECT_EQ((*notices)[0].at, kActionTime);
  EXPECT_TRUE((*notices)[0].leaves);
  EXPECT_FALSE((*notices)[1].leaves);
  EXPECT_EQ((*notices)[2].what, "scheduled maintenance (system-reboot)");
  EXPECT_EQ((*notices)[2].at, 1548061243);
}

TEST_F(AwsTest, ATokenIsUsedUntilHalfOfItsTimeIsOver) {
  const auto source = NewAwsSource(service_.Open());
  for (const double now : {1000.0, 1005.0, 11799.0}) ASSERT_TRUE(source->Poll(now).ok());
  EXPECT_EQ(tokens_, 1);
  ASSERT_TRUE(source->Poll(11800).ok());
  EXPECT_EQ(tokens_, 2);
  // After the clock was set back, nobody knows how old the token is, so the source asks for a new one.
  ASSERT_TRUE(source->Poll(5).ok());
  EXPECT_EQ(tokens_, 3);
}

TEST_F(AwsTest, AnExpiredTokenIsRenewedAtOnceAndNotForEver) {
  const auto source = NewAwsSource(service_.Open());
  ASSERT_TRUE(source->Poll(0).ok());
  documents_["/latest/meta-data/spot/instance-action"] = kAction;
  token_ = "another";
  EXPECT_EQ(source->Poll(1)->size(), 1u);
  EXPECT_EQ(tokens_, 2);
  refuse_all_ = true;
  EXPECT_THAT(std::string(source->Poll(2).status().message()), HasSubstr("401"));
  EXPECT_EQ(tokens_, 3);
}

TEST_F(AwsTest, WhatIsNoTokenIsNotSentAsAHeader) {
  for (const std::string& bad : {std::string(), std::string("a\r\nX: y"), std::string(2000, 'a'), std::string("a b")}) {
    token_ = bad;
    service_.requests.clear();
    EXPECT_FALSE(NewAwsSource(service_.Open())->Poll(0).ok());
    EXPECT_EQ(service_.requests.size(), 1u);
  }
}

TEST_F(AwsTest, ErrorsAreErrorsNotWithdrawals) {
  const auto source = NewAwsSource(service_.Open());
  documents_["/latest/meta-data/spot/instance-action"] = "{";
  EXPECT_THAT(std::string(source->Poll(0).status().message()), HasSubstr("instance-action"));
  // A status of 403 means that the metadata service is switched off for this instance.
  token_status_ = 403;
  EXPECT_THAT(std::string(NewAwsSource(service_.Open())->Poll(0).status().message()), HasSubstr("403"));
  service_.answer = [](const common::HttpRequest&) { return absl::DeadlineExceededError("no answer"); };
  EXPECT_THAT(std::string(NewAwsSource(service_.Open())->Poll(0).status().message()), HasSubstr("hop limit"));
}

TEST(AwsDocuments, OnlyActiveMaintenanceStandsAndSomeOfItTakesNoInstance) {
  const auto notices = ParseScheduledMaintenance(R"([
    {"NotBefore": "21 Jan 2019 09:00:43 GMT", "Code": "instance-stop", "EventId": "a", "State": "completed"},
    {"NotBefore": "21 Jan 2019 09:00:43 GMT", "Code": "instance-stop", "EventId": "b", "State": "canceled"},
    {"NotBefore": "21 Jan 2019 09:00:43 GMT", "Code": "system-maintenance", "EventId": "c", "State": "active"}])");
  ASSERT_TRUE(notices.ok()) << notices.status();
  ASSERT_EQ(notices->size(), 1u);
  EXPECT_EQ(notices->front().id, "c");
  EXPECT_FALSE(notices->front().leaves);
  EXPECT_THAT(*ParseScheduledMaintenance("[]"), IsEmpty());
}

TEST(AwsDocuments, WhatIsMissingOrOfAnotherTypeIsNamed) {
  EXPECT_THAT(std::string(ParseInstanceAction(R"({"action": "stop"})").status().message()), HasSubstr("time"));
  EXPECT_FALSE(ParseInstanceAction(R"({"action": 1, "time": "2017-09-18T08:22:00Z"})").ok());
  EXPECT_FALSE(ParseInstanceAction(R"({"action": "stop", "time": "infinite-future"})").ok());
  EXPECT_FALSE(ParseInstanceAction(R"([])").ok());
  EXPECT_FALSE(ParseRebalance("null").ok());
  EXPECT_FALSE(ParseScheduledMaintenance("{}").ok());
  EXPECT_FALSE(ParseScheduledMaintenance(R"([{"EventId": "a", "State": "active"}])").ok());
}

}  // namespace
}  // namespace rekindle::agent
