#include "coordinator/core/nodes/node_report_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "common/agreed/agreed_limits.h"
#include "common/agreed/version.h"
#include "coordinator/core/state/node_state.h"

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

TEST(NodeReportCheck, WhyTrainersDoNotStartHasBounds) {
  v1::NodeReport report;
  report.set_protocol_version(common::kProtocolVersion);
  report.set_incarnation("folder-1");
  report.set_agent_incarnation("agent-1");
  report.set_slots(1);
  v1::StartTrouble* trouble = report.add_start_troubles();
  trouble->set_job_uid("uid");
  trouble->set_words(std::string(common::kLongestLastWords, 'x'));
  EXPECT_EQ(FindRefusal(report, /*allow_fake_devices=*/false), "");
  trouble->mutable_words()->push_back('x');
  EXPECT_THAT(FindRefusal(report, /*allow_fake_devices=*/false), HasSubstr("has at most 1024 characters"));
  trouble->clear_words();
  report.add_start_troubles()->set_job_uid("uid");
  EXPECT_THAT(FindRefusal(report, /*allow_fake_devices=*/false), HasSubstr("a job has two troubles"));
  report.clear_start_troubles();
  for (int i = 0; i <= kMaxSlots; ++i) report.add_start_troubles()->set_job_uid(std::to_string(i));
  EXPECT_THAT(FindRefusal(report, /*allow_fake_devices=*/false), HasSubstr("no room for so many jobs"));
}

}  // namespace
}  // namespace rekindle::core
