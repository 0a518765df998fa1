// Tests how rekindle-worker treats GPUs: which one each trainer gets, and what happens to the slot of one that fails. A
// library stands in for the driver's.
#include <cstdlib>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/agreed/exit_codes.h"
#include "worker/agent/init/init.h"
#include "worker/agent/testing/agent_fixture.h"

namespace rekindle::agent {
namespace {

using ::testing::HasSubstr;

constexpr char kTwo[] = "GPU-a,100,85899345920;GPU-b,90,42949672960";

class AgentGpuTest : public AgentTest {
 protected:
  AgentGpuTest() {
    setenv("LD_LIBRARY_PATH", FAKE_DRIVER "/fake_nvml", 1);
    setenv("REKINDLE_FAKE_NVML", ("@" + list_).c_str(), 1);
  }
  ~AgentGpuTest() override {
    unsetenv("LD_LIBRARY_PATH");
    unsetenv("REKINDLE_FAKE_NVML");
  }
  // Sets what the driver lists from now on.
  void SetGpus(const std::string& gpus) const {
    std::ofstream(list_ + ".new") << gpus;
    std::filesystem::rename(list_ + ".new", list_);
  }
  // Wants a trainer of the job in each of the first `slots` slots.
  void WantInSlots(const std::string& job, int slots) {
    v1::NodeDirective directive;
    for (int slot = 0; slot < slots; ++slot) *directive.add_trainers() = Desired(job, slot);
    coordinator_.Direct(directive);
  }
  // Returns the words of the fault of a slot, or an empty text if the slot has none.
  static std::string FaultOf(const v1::NodeReport& report, int slot) {
    for (const v1::SlotFault& fault : report.slot_faults()) {
      if (fault.slot() == slot) return fault.words();
    }
    return "";
  }
  // Returns the environment of the trainer of the job "steady" that the report shows in the slot.
  std::string EnvironmentOf(const v1::NodeReport& report, int slot) {
    // The trainer has the environment only once its program runs, which its first line shows.
    EXPECT_TRUE(WaitLine(Running(report, slot)->trainer(), absl::StrCat("job steady slot ", slot)));
    return ReadText(absl::StrCat("/proc/", Record(slot).process.pid, "/environ"));
  }

  const common::TemporaryFolder driver_;
  const std::string list_ = driver_.path() + "/gpus";
};

TEST_F(AgentGpuTest, EachTrainerGetsAGpuByItsUuid) {
  SetGpus(kTwo);
  WantInSlots("steady", 2);
  StartInit();
  const auto report = coordinator_.WaitFor([](const v1::NodeReport& r) { return Running(r, 0) && Running(r, 1); });
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->slots(), 2);
  EXPECT_EQ(report->device().kind(), "cuda");
  EXPECT_EQ(report->device().compute_capability(), 90);
  EXPECT_EQ(report->device().memory_bytes(), 42949672960.0);
  EXPECT_THAT(EnvironmentOf(*report, 0), HasSubstr(std::string("CUDA_VISIBLE_DEVICES=GPU-a\0", 27)));
  EXPECT_THAT(EnvironmentOf(*report, 1), HasSubstr(std::string("CUDA_VISIBLE_DEVICES=GPU-b\0", 27)));
}

TEST_F(AgentGpuTest, TrainersShareAGpuIfTheFlagSaysSo) {
  SetGpus("GPU-a,90,1000");
  WantInSlots("steady", 2);
  StartInit({"--gpu-share", "2"});
  const auto report = coordinator_.WaitFor([](const v1::NodeReport& r) { return Running(r, 0) && Running(r, 1); });
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->slots(), 2);
  EXPECT_EQ(report->device().memory_bytes(), 500);
  EXPECT_THAT(EnvironmentOf(*report, 1), HasSubstr("CUDA_VISIBLE_DEVICES=GPU-a"));
}

TEST_F(AgentGpuTest, MoreSlotsThanTheGpusHaveRoomForAreRefused) {
  SetGpus(kTwo);
  EXPECT_EQ(Worker::Start("agent", Flags({"--slots", "3"})).Wait(), kExitWrongUse);
  EXPECT_EQ(Worker::Start("agent", Flags({"--slots", "5", "--gpu-share", "2"})).Wait(), kExitWrongUse);
}

TEST_F(AgentGpuTest, WithoutTheGpusThereIsNoLimitOfSlots) {
  SetGpus(kTwo);
  StartInit({"--slots", "3", "--device", "cpu"});
  const auto report = coordinator_.WaitFor([](const v1::NodeReport&) { return true; });
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->slots(), 3);
  EXPECT_EQ(report->device().kind(), "cpu");
}

TEST_F(AgentGpuTest, ASlotWhoseGpuIsBrokenFromTheStartIsOutAndIsNoSlotOfTheProcessor) {
  SetGpus("lost;GPU-b,90,1000");
  WantInSlots("steady", 2);
  StartInit();
  const auto report = coordinator_.WaitFor([](const v1::NodeReport& r) { return Running(r, 1) != nullptr; });
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->slots(), 2);
  EXPECT_THAT(FaultOf(*report, 0), HasSubstr("GPU is lost"));
  EXPECT_EQ(FaultOf(*report, 1), "");
  EXPECT_EQ(report->hint(), "") << "the node has a slot that works";
  EXPECT_EQ(Running(*report, 0), nullptr);
  EXPECT_FALSE(std::filesystem::exists(dir_ + "/trainers/0.json"));
}

TEST_F(AgentGpuTest, ADriverThatDoesNotWorkMakesNoNodeThatComputesOnTheProcessor) {
  SetGpus("mismatch");
  StartInit({"--slots", "2"});
  const auto report = coordinator_.WaitFor([](const v1::NodeReport&) { return true; });
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->device().kind(), "cuda");
  EXPECT_EQ(report->slots(), 2);
  EXPECT_THAT(FaultOf(*report, 0), HasSubstr("Driver/library version mismatch"));
  EXPECT_THAT(FaultOf(*report, 1), HasSubstr("Driver/library version mismatch"));
}

TEST_F(AgentGpuTest, AGpuThatFailsTakesItsSlotOutWithTheTrainersWords) {
  SetGpus("GPU-a,90,1000");
  Want("gpu-lost");
  StartInit();
  const auto report = coordinator_.WaitFor([](const v1::NodeReport& r) { return r.slot_faults_size() > 0; });
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(FaultOf(*report, 0), "an error of the driver");
  EXPECT_EQ(report->hint(), "") << "the driver finds nothing wrong, so another machine would not help";
  ASSERT_FALSE(report->trainers().empty());
  EXPECT_EQ(report->trainers(0).exit_code(), common::kExitDeviceGone);
  EXPECT_EQ(report->trainers(0).exit_reason(), "exit code 76: an error of the driver");
}

TEST_F(AgentGpuTest, ASlotIsInUseAgainWhenTheDriverFindsNothingWrong) {
  SetGpus("GPU-a,90,1000;GPU-b,90,1000");
  WantInSlots("gpu-lost", 2);
  StartInit({"--ask-driver-seconds", "0.2"});
  const auto both_out = [](const v1::NodeReport& r) { return r.slot_faults_size() == 2; };
  ASSERT_TRUE(coordinator_.WaitFor(both_out).has_value());
  SetGpus("lost;lost");
  WantInSlots("steady", 2);
  const auto lost = coordinator_.WaitFor([](const v1::NodeReport& r) { return !r.hint().empty(); });
  ASSERT_TRUE(lost.has_value());
  EXPECT_THAT(lost->hint(), HasSubstr("every slot is out of use: GPU is lost"));
  EXPECT_THAT(FaultOf(*lost, 1), HasSubstr("GPU is lost"));
  SetGpus("GPU-a,90,1000;GPU-b,90,1000");
  const auto mended = coordinator_.WaitFor([](const v1::NodeReport& r) { return Running(r, 0) && Running(r, 1); });
  ASSERT_TRUE(mended.has_value());
  EXPECT_EQ(mended->slot_faults_size(), 0);
  EXPECT_EQ(mended->hint(), "");
}

TEST_F(AgentGpuTest, ASlotKeepsItsGpuWhenTheAgentIsRestartedAfterAnotherGpuWasLost) {
  SetGpus(kTwo);
  StartInit();
  const auto first = coordinator_.WaitFor([](const v1::NodeReport& r) { return r.slots() == 2; });
  ASSERT_TRUE(first.has_value());
  SetGpus("GPU-b,90,42949672960");
  WantInSlots("steady", 2);
  kill(AgentProcess().pid, SIGKILL);
  const auto second = coordinator_.WaitFor([&](const v1::NodeReport& r) {
    return r.agent_incarnation() != first->agent_incarnation() && Running(r, 1) != nullptr;
  });
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(FaultOf(*second, 0), "the driver does not list it any more");
  EXPECT_THAT(EnvironmentOf(*second, 1), HasSubstr("CUDA_VISIBLE_DEVICES=GPU-b"));
}

TEST_F(AgentGpuTest, ALostContextIsForgivenOnce) {
  SetGpus("GPU-a,90,1000");
  Want("context-lost");
  StartInit();
  const auto report = coordinator_.WaitFor([](const v1::NodeReport& r) { return r.slot_faults_size() > 0; });
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->trainers_size(), 2) << "the first loss has started another trainer";
  for (const v1::TrainerProcess& process : report->trainers()) {
    EXPECT_EQ(process.exit_code(), common::kExitContextLost);
  }
}

}  // namespace
}  // namespace rekindle::agent
