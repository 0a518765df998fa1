// Tests the source of Azure's scheduled events with documents in the form that Azure's documentation shows.
#include "worker/agent/notices/azure_notices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "common/testing/http_testing.h"

namespace rekindle::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// `kNotBefore` is Thu, 22 Jul 2021 04:50:17 GMT in Unix seconds.
constexpr double kNotBefore = 1626929417;

std::string Document(const std::string& type = "Preempt", const std::string& resources = R"("vm1")",
                     const std::string& status = "Scheduled",
                     const std::string& begin = "Thu, 22 Jul 2021 04:50:17 GMT") {
  return absl::StrReplaceAll(R"({"DocumentIncarnation": 2, "Events": [
    {"EventId": "4CAEA225-A741-474D-A72E-428C86FCD853", "EventStatus": "$status", "EventType": "$type",
     "ResourceType": "VirtualMachine", "Resources": [$resources], "NotBefore": "$begin", "Description": "",
     "EventSource": "Platform", "DurationInSeconds": -1}]})",
                             {{"$type", type}, {"$resources", resources}, {"$status", status}, {"$begin", begin}});
}

TEST(AzureDocuments, AnEventForThisMachine) {
  const auto notices = ParseScheduledEvents(Document(), "VM1", 1000);
  ASSERT_TRUE(notices.ok()) << notices.status();
  ASSERT_EQ(notices->size(), 1u);
  EXPECT_EQ(notices->front().what, "scheduled event (Preempt)");
  EXPECT_EQ(notices->front().at, kNotBefore);
  EXPECT_TRUE(notices->front().leaves);
  EXPECT_TRUE(notices->front().acknowledge);
}

TEST(AzureDocuments, EventsOfNeighboursArePassedOver) {
  EXPECT_THAT(*ParseScheduledEvents(Document(), "vm2", 0), IsEmpty());
  EXPECT_THAT(*ParseScheduledEvents(R"({"DocumentIncarnation": 1, "Events": []})", "vm2", 0), IsEmpty());
}

TEST(AzureDocuments, WhatIsNotAcknowledged) {
  EXPECT_FALSE(ParseScheduledEvents(Document("Reboot", R"("vm1","vm2")"), "vm1", 0)->front().acknowledge);
  EXPECT_FALSE(ParseScheduledEvents(Document("Reboot", R"("vm1")", "Started", ""), "vm1", 0)->front().acknowledge);
  const auto freeze = ParseScheduledEvents(Document("Freeze"), "vm1", 0);
  EXPECT_FALSE(freeze->front().acknowledge);
  EXPECT_FALSE(freeze->front().leaves);
}

TEST(AzureDocuments, WhatIsNoListOfEvents) {
  EXPECT_FALSE(ParseScheduledEvents("[]", "vm1", 0).ok());
  EXPECT_FALSE(ParseScheduledEvents("{}", "vm1", 0).ok());
  EXPECT_FALSE(ParseScheduledEvents(R"({"Events": [{"EventId": "a", "EventType": "Reboot"}]})", "vm1", 0).ok());
  EXPECT_FALSE(ParseScheduledEvents(Document("Reboot", R"("vm1")", "Scheduled", "soon"), "vm1", 0).ok());
  EXPECT_FALSE(ParseScheduledEvents(R"({"Events": [1]})", "vm1", 0).ok());
}

class AzureTest : public ::testing::Test {
 protected:
  AzureTest() {
    service_.answer = [this](const common::HttpRequest& request) -> absl::StatusOr<common::HttpAnswer> {
      EXPECT_EQ(request.headers.at("Metadata"), "true");
      if (absl::StrContains(request.path, "/compute/name")) return common::HttpAnswer{.status = 200, .body = "vm1\n"};
      if (request.method == "POST") acknowledged_ = request.body;
      return common::HttpAnswer{.status = status_, .body = document_};
    };
  }

  common::FakeService service_;
  std::string document_ = Document(), acknowledged_;
  int status_ = 200;
};

TEST_F(AzureTest, AnEventThatHasStartedKeepsItsTime) {
  const auto source = NewAzureSource(service_.Open());
  EXPECT_EQ(source->Poll(5)->front().at, kNotBefore);
  document_ = Document("Preempt", R"("vm1")", "Started", "");
  EXPECT_EQ(source->Poll(6)->front().at, kNotBefore);
  EXPECT_EQ(NewAzureSource(service_.Open())->Poll(7)->front().at, 7);
}

TEST_F(AzureTest, AnAcknowledgementNamesTheEvent) {
  const auto source = NewAzureSource(service_.Open());
  const auto notices = source->Poll(0);
  ASSERT_TRUE(source->Acknowledge(notices->front()).ok());
  EXPECT_EQ(acknowledged_, R"({"StartRequests":[{"EventId":"4CAEA225-A741-474D-A72E-428C86FCD853"}]})");
  status_ = 400;
  EXPECT_THAT(std::string(source->Acknowledge(notices->front()).message()), HasSubstr("400"));
  EXPECT_FALSE(source->Poll(1).ok());
}

}  // namespace
}  // namespace rekindle::agent
