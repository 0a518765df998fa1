// Tests the source of preemption and maintenance notices of Google Compute Engine.
#include "worker/agent/notices/gcp_notices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/testing/http_testing.h"

namespace rekindle::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class GcpTest : public ::testing::Test {
 protected:
  GcpTest() {
    service_.answer = [this](const common::HttpRequest& request) -> absl::StatusOr<common::HttpAnswer> {
      EXPECT_EQ(request.headers.at("Metadata-Flavor"), "Google");
      EXPECT_EQ(request.headers.at("Host"), "metadata.google.internal");
      const bool preempted = request.path == "/computeMetadata/v1/instance/preempted";
      return common::HttpAnswer{.status = status_, .headers = headers_, .body = preempted ? preempted_ : event_};
    };
  }

  common::FakeService service_;
  std::map<std::string, std::string> headers_ = {{"metadata-flavor", "Google"}};
  int status_ = 200;
  std::string preempted_ = "FALSE", event_ = "NONE\n";
};

TEST_F(GcpTest, APreemptionIsThirtySecondsFromItsFirstSight) {
  const auto source = NewGcpSource(service_.Open());
  EXPECT_THAT(*source->Poll(1000), IsEmpty());
  preempted_ = "TRUE";
  EXPECT_EQ(source->Poll(1001)->front().at, 1031);
  EXPECT_EQ(source->Poll(1002)->front().at, 1031);
  preempted_ = "FALSE";
  EXPECT_THAT(*source->Poll(1003), IsEmpty());
  preempted_ = "TRUE";
  EXPECT_EQ(source->Poll(1050)->front().at, 1080);
}

TEST_F(GcpTest, MaintenanceThatStopsAndMaintenanceThatMoves) {
  const auto source = NewGcpSource(service_.Open());
  event_ = "TERMINATE_ON_HOST_MAINTENANCE";
  const auto stops = source->Poll(1000);
  EXPECT_TRUE(stops->front().leaves);
  EXPECT_EQ(stops->front().at, 1060);
  event_ = "MIGRATE_ON_HOST_MAINTENANCE";
  const auto moves = source->Poll(1001);
  ASSERT_EQ(moves->size(), 1u);
  EXPECT_FALSE(moves->front().leaves);
}

TEST_F(GcpTest, OnlyGooglesServerIsBelieved) {
  preempted_ = "TRUE";
  headers_.clear();
  EXPECT_THAT(std::string(NewGcpSource(service_.Open())->Poll(0).status().message()), HasSubstr("another server"));
  headers_ = {{"metadata-flavor", "Google"}};
  status_ = 503;
  EXPECT_THAT(std::string(NewGcpSource(service_.Open())->Poll(0).status().message()), HasSubstr("503"));
  status_ = 200;
  preempted_ = "<html>";
  EXPECT_THAT(std::string(NewGcpSource(service_.Open())->Poll(0).status().message()), HasSubstr("<html>"));
}

}  // namespace
}  // namespace rekindle::agent
