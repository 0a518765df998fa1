// In these tests a fake cloud answers as the reference of Auto Scaling's Query API shows.
#include "coordinator/fleet/providers/aws/aws.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "common/time/clock.h"
#include "coordinator/fleet/providers/testing/cloud_testing.h"

namespace rekindle::fleet {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr char kSecret[] = "wJalrXUtnFEMI";

std::string Error(const std::string& code, const std::string& message) {
  return absl::StrCat(
      "<ErrorResponse xmlns=\"http://autoscaling.amazonaws.com/doc/2011-01-01/\"><Error><Type>Sender</Type><Code>",
      code, "</Code><Message>", message, "</Message></Error><RequestId>r</RequestId></ErrorResponse>");
}

class AwsTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = NewAwsProvider({.region = "us-east-2", .endpoint = cloud_.endpoint(), .groups = {{"p", "group-1"}}},
                               Fixed({{"AWS_ACCESS_KEY_ID", "AKID"}, {"AWS_SECRET_ACCESS_KEY", kSecret}}));
    ASSERT_TRUE(made.ok()) << made.status();
    aws_ = *std::move(made);
  }

  void Handle(const httplib::Request& request, httplib::Response& response) {
    const std::string action = request.body.substr(7, request.body.find('&') - 7);
    EXPECT_THAT(request.get_header_value("Authorization"),
                HasSubstr(absl::StrCat("/us-east-2/", action == "DescribeInstances" ? "ec2" : "autoscaling",
                                       "/aws4_request, SignedHeaders=content-type;host;x-amz-date, Signature=")));
    std::string result;
    if (action == "DescribeInstances") {
      for (const auto& [id, state] : instances_) {
        absl::StrAppend(&result, "<item><instancesSet><item><instanceId>", id, "</instanceId><instanceState><name>",
                        state, "</name></instanceState><launchTime>2026-11-22T10:00:00.000Z</launchTime></item>",
                        "</instancesSet></item>");
      }
      return response.set_content(absl::StrCat("<DescribeInstancesResponse><requestId>r</requestId><reservationSet>",
                                               result, "</reservationSet></DescribeInstancesResponse>"),
                                  "text/xml");
    }
    if (action == "DescribeAutoScalingGroups") {
      for (const auto& [id, state] : instances_) {
        absl::StrAppend(&result, "<member><InstanceId>", id, "</InstanceId><LifecycleState>", state,
                        "</LifecycleState></member>");
      }
      result = absl::StrCat("<AutoScalingGroups><member><AutoScalingGroupName>group-1</AutoScalingGroupName><MinSize>",
                            min_, "</MinSize><MaxSize>8</MaxSize><DesiredCapacity>", desired_,
                            "</DesiredCapacity><Instances>", result, "</Instances></member></AutoScalingGroups>");
    } else if (action == "DescribeScalingActivities") {
      result = absl::StrCat(
          "<Activities><member><Description>Terminating EC2 instance: i-0</Description><StatusCode>"
          "Successful</StatusCode></member><member><Description>Launching a new EC2 instance</Description>"
          "<StatusCode>",
          launch_.empty() ? "Successful" : "Failed", "</StatusCode><StatusMessage>", launch_,
          "</StatusMessage></member></Activities>");
    }
    response.set_content(absl::StrCat("<?xml version=\"1.0\"?>\n<", action, "Response><", action, "Result>", result,
                                      "</", action, "Result><ResponseMetadata/></", action, "Response>"),
                         "text/xml");
  }
  // Returns the actions that the provider has requested, without those that only describe something.
  std::vector<std::string> Asked() {
    std::vector<std::string> asked;
    for (const std::string& seen : cloud_.TakeSeen()) {
      const std::string body = seen.substr(std::string("POST / Action=").size());
      if (body.rfind("Describe", 0) != 0) asked.push_back(body);
    }
    return asked;
  }

  std::map<std::string, std::string> instances_;
  int desired_ = 0;
  int min_ = 0;
  std::string launch_;
  FakeCloud cloud_{[this](const auto& request, auto& response) { Handle(request, response); }};
  std::unique_ptr<Provider> aws_;
};

TEST_F(AwsTest, WhatRunsIsListedByInstance) {
  desired_ = 4;
  instances_ = {{"i-1", "InService"}, {"i-2", "Pending:Wait"}, {"i-3", "Terminating"}, {"i-4", "Standby"}};
  const auto listing = aws_->List("p", 10);
  ASSERT_TRUE(listing.ok()) << listing.status();
  EXPECT_EQ(listing->desired, 4);
  ASSERT_EQ(listing->machines.size(), 4u);
  EXPECT_EQ(listing->machines[0].node, "i-1");
  EXPECT_EQ(listing->machines[1].state, MachineState::kStarting);
  EXPECT_EQ(listing->machines[2].state, MachineState::kEnding);
  EXPECT_EQ(listing->machines[3].state, MachineState::kEnding);
  EXPECT_TRUE(listing->shortage.ok());
}

TEST_F(AwsTest, SinceWhenAnInstanceRunsIsAskedOnce) {
  desired_ = 2;
  instances_ = {{"i-1", "InService"}, {"i-2", "Pending:Wait"}};
  const auto asked = [this] {
    const std::vector<std::string> seen = cloud_.TakeSeen();
    return std::count_if(seen.begin(), seen.end(), [](const std::string& each) {
      return each.find("Action=DescribeInstances") != std::string::npos;
    });
  };
  for (int i = 0; i < 2; ++i) {
    const auto listing = aws_->List("p", 10);
    ASSERT_TRUE(listing.ok()) << listing.status();
    EXPECT_EQ(listing->machines[0].since, 1795341600);
    EXPECT_EQ(listing->machines[1].since, 0);
    EXPECT_EQ(asked(), i == 0 ? 1 : 0);
  }
  instances_["i-2"] = "InService";
  EXPECT_EQ(aws_->List("p", 10)->machines[1].since, 1795341600);
  EXPECT_EQ(asked(), 1);
}

// An instance that was detached from the group runs on. An instance that EC2 does not list is not known to have ended.
TEST_F(AwsTest, AnInstanceHasEndedWhereEc2SaysSo) {
  instances_ = {{"i-1", "terminated"}, {"i-2", "running"}, {"i-3", "stopped"}, {"i-4", "shutting-down"}};
  const auto ended = aws_->Ended("p", {"i-1", "i-2", "i-3", "i-4", "i-5"}, 10);
  ASSERT_TRUE(ended.ok()) << ended.status();
  EXPECT_THAT(*ended, ElementsAre("i-1", "i-3"));
  const std::vector<std::string> seen = cloud_.TakeSeen();
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_THAT(seen[0], AllOf(HasSubstr("Filter.1.Name=instance-id"), HasSubstr("Filter.1.Value.5=i-5"),
                             HasSubstr("Filter.2.Value.1=terminated")));
  cloud_.Spoil(403, Error("UnauthorizedOperation", "You are not authorized: ec2:DescribeInstances"));
  EXPECT_FALSE(aws_->Ended("p", {"i-1"}, 10).ok());
}

TEST_F(AwsTest, TheDesiredCapacityIsSetOnceAndWithinTheGroupsLimits) {
  EXPECT_TRUE(aws_->SetDesired("p", 3, {}, 10).ok());
  EXPECT_THAT(Asked(),
              ElementsAre("SetDesiredCapacity&Version=2011-01-01&AutoScalingGroupName=group-1&DesiredCapacity=3&"
                          "HonorCooldown=false"));
  desired_ = 3;
  EXPECT_TRUE(aws_->SetDesired("p", 3, {}, 10).ok());
  EXPECT_THAT(Asked(), ElementsAre());
  const absl::Status most = aws_->SetDesired("p", 12, {}, 10);
  EXPECT_TRUE(absl::IsResourceExhausted(most)) << most;
  EXPECT_THAT(Asked(), ElementsAre(HasSubstr("DesiredCapacity=8")));
  min_ = 2;
  EXPECT_TRUE(absl::IsFailedPrecondition(aws_->SetDesired("p", 0, {}, 10)));
  EXPECT_THAT(Asked(), ElementsAre(HasSubstr("DesiredCapacity=2")));
}

TEST_F(AwsTest, NamedNodesAreEndedAndNotReplaced) {
  desired_ = 4;
  instances_ = {{"i-1", "InService"}, {"i-2", "InService"}, {"i-3", "InService"}, {"i-4", "InService"}};
  EXPECT_TRUE(aws_->SetDesired("p", 2, {"i-2", "i-9"}, 10).ok());
  EXPECT_THAT(Asked(), ElementsAre(AllOf(HasSubstr("TerminateInstanceInAutoScalingGroup"), HasSubstr("InstanceId=i-2"),
                                         HasSubstr("ShouldDecrementDesiredCapacity=true")),
                                   HasSubstr("DesiredCapacity=2")));
  // While a group wants more machines than it has, a smaller order only lowers the wanted number, and ends no machine
  // that runs.
  instances_ = {{"i-1", "InService"}, {"i-2", "InService"}};
  EXPECT_TRUE(aws_->SetDesired("p", 2, {"i-2"}, 10).ok());
  EXPECT_THAT(Asked(), ElementsAre(HasSubstr("SetDesiredCapacity")));
}

TEST_F(AwsTest, AFailedLaunchSaysWhyThereAreFewer) {
  desired_ = 2;
  launch_ =
      "Could not launch Spot Instances. InsufficientInstanceCapacity - There is no Spot capacity available that "
      "matches your request. Launching EC2 instance failed.";
  EXPECT_TRUE(absl::IsResourceExhausted(aws_->List("p", 10)->shortage));
  launch_ = "The key pair &apos;x&apos; does not exist. Launching EC2 instance failed.";
  const absl::Status wrong = aws_->List("p", 10)->shortage;
  EXPECT_TRUE(absl::IsFailedPrecondition(wrong));
  EXPECT_THAT(std::string(wrong.message()), HasSubstr("The key pair 'x' does not exist"));
}

TEST_F(AwsTest, ErrorsHaveTheirMeaning) {
  const auto code = [this](int status, const std::string& body, const httplib::Headers& headers = {}) {
    cloud_.Spoil(status, body, headers);
    return aws_->List("p", 10).status();
  };
  EXPECT_EQ(RetryAfter(code(400, Error("Throttling", "Rate exceeded"))), 0);
  EXPECT_EQ(RetryAfter(code(503, "busy", {{"Retry-After", "30"}})), 30);
  EXPECT_TRUE(absl::IsUnavailable(code(500, Error("InternalFailure", "sorry"))));
  const absl::Status denied = code(403, Error("AccessDenied", "User x is not authorized to perform: autoscaling:..."));
  EXPECT_TRUE(absl::IsPermissionDenied(denied));
  EXPECT_THAT(std::string(denied.message()), AllOf(HasSubstr("not authorized"), Not(HasSubstr(kSecret))));
  EXPECT_TRUE(absl::IsInvalidArgument(code(400, Error("ValidationError", "1 validation error detected"))));
  EXPECT_EQ(code(200, "<a><b></a>").code(), absl::StatusCode::kInternal);
  EXPECT_EQ(code(200, std::string(100, 'x')).code(), absl::StatusCode::kInternal);
  EXPECT_TRUE(absl::IsNotFound(code(200, "<DescribeAutoScalingGroupsResponse/>")));
}

TEST_F(AwsTest, KeysThatExpiredMeanwhileAreFetchedOnceMore) {
  cloud_.Spoil(403, Error("ExpiredToken", "The security token included in the request is expired"));
  EXPECT_TRUE(aws_->List("p", 10).ok());
  cloud_.Spoil(403, Error("InvalidClientTokenId", "no"));
  cloud_.Spoil(403, Error("InvalidClientTokenId", "no"));
  EXPECT_TRUE(absl::IsUnauthenticated(aws_->List("p", 10).status()));
}

TEST_F(AwsTest, AHugeAnswerIsNotRead) {
  cloud_.Spoil([](const httplib::Request&, httplib::Response& response) {
    response.set_chunked_content_provider("text/xml", [](size_t, httplib::DataSink& sink) {
      const std::string part(1 << 20, ' ');
      return sink.write(part.data(), part.size());
    });
  });
  const absl::Status status = aws_->List("p", 10).status();
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr("more than"));
}

TEST(Aws, AnEndpointWithoutTlsIsRefused) {
  EXPECT_TRUE(absl::IsInvalidArgument(NewAwsProvider({.region = "r", .endpoint = "http://example.com"}).status()));
}

}  // namespace
}  // namespace rekindle::fleet
