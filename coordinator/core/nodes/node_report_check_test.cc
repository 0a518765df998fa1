#include "coordinator/core/nodes/node_report_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/agreed/version.h"

namespace rekindle::core {
namespace {

using testing::HasSubstr;

TEST(NodeReportCheck, ADeviceForTestsIsRefusedUnlessTheCoordinatorAllowsIt) {
  v1::NodeReport report;
  report.set_protocol_version(common::kProtocolVersion);
  report.set_incarnation("folder-1");
  report.set_agent_incarnation("agent-1");
  report.set_slots(1);
  report.mutable_device()->set_kind("cuda");
  EXPECT_EQ(FindRefusal(report, /*allow_fake_devices=*/false), "");
  report.mutable_device()->set_is_fake(true);
  EXPECT_EQ(FindRefusal(report, /*allow_fake_devices=*/true), "");
  const std::string refusal = FindRefusal(report, /*allow_fake_devices=*/false);
  EXPECT_THAT(refusal, HasSubstr("for tests with a coordinator on loopback"));
  EXPECT_THAT(refusal, HasSubstr("start the worker with --device auto or --device cpu"));
}

}  // namespace
}  // namespace rekindle::core
