#include "worker/train/program/planned_fault.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <string>

namespace rekindle::train {
namespace {

using Fault = FaultPlan::Fault;

TEST(FaultPlan, IsReadOrRefused) {
  const auto plan = ParseFaultPlan("lose-context at 12 of from 16 bits once in /tmp/a b");
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->fault, Fault::kLoseContext);
  EXPECT_EQ(plan->count, 12);
  EXPECT_EQ(plan->point, "from 16 bits");
  EXPECT_EQ(plan->file, "/tmp/a b");
  for (const char* wrong : {"", "kill", "melt at 1 of update once in /f", "kill at 0 of update once in /f",
                            "kill at 99999999999 of update once in /f", "kill at 1 of update once in here"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseFaultPlan(wrong).status())) << wrong;
  }
}

class PlannedFaultTest : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(file_); }

  const std::string file_ = testing::TempDir() + "/planned_fault_test." + std::to_string(::getpid());
};

TEST_F(PlannedFaultTest, HappensAtItsCountAndOnce) {
  for (const bool is_first : {true, false}) {
    auto device = device::MakeFakeDevice({});
    PlannedFault fault({.fault = Fault::kLoseDevice, .count = 2, .point = "update", .file = file_});
    fault.SetDevice(*device);
    for (const char* name : {"update", "backward", "backward"}) fault.BeforeOperation(device::Queue::kCompute, name);
    EXPECT_EQ(device->Look().state, device::Health::State::kFine);
    fault.BeforeOperation(device::Queue::kCompute, "update");
    EXPECT_EQ(device->Look().state, is_first ? device::Health::State::kDeviceLost : device::Health::State::kFine);
  }
}

TEST_F(PlannedFaultTest, ACallOfNcclThatHangsGoesOnHanging) {
  PlannedFault fault({.fault = Fault::kHang, .count = 2, .point = "NCCL joining", .file = file_});
  EXPECT_EQ(fault.AtNccl(comm::FakeNcclCall::kPollJoin), comm::FakeNcclFault::kNone);
  EXPECT_EQ(fault.AtNccl(comm::FakeNcclCall::kPoll), comm::FakeNcclFault::kNone);
  EXPECT_EQ(fault.AtNccl(comm::FakeNcclCall::kPollJoin), comm::FakeNcclFault::kHang);
  EXPECT_EQ(fault.AtNccl(comm::FakeNcclCall::kPollJoin), comm::FakeNcclFault::kHang);
  EXPECT_EQ(fault.AtNccl(comm::FakeNcclCall::kPoll), comm::FakeNcclFault::kNone);
}

}  // namespace
}  // namespace rekindle::train
