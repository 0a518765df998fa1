#include "worker/device/cuda/cuda_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "worker/device/cuda/cuda_errors.h"
#include "worker/device/testing/gpu_table_testing.h"

namespace rekindle::device {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class CudaDeviceTest : public testing::Test {
 protected:
  CudaDeviceTest() { TheGpu() = GpuTable(); }
  // Whatever a test does, nothing of the device may be left at its end.
  ~CudaDeviceTest() override {
    device_.reset();
    EXPECT_EQ(TheGpu().queues, 0);
    EXPECT_EQ(TheGpu().marks, 0);
    EXPECT_EQ(TheGpu().blocks, 0);
  }
  Device& Make() {
    absl::StatusOr<std::unique_ptr<Device>> made = MakeDeviceOnTheGpu();
    EXPECT_TRUE(made.ok()) << made.status();
    device_ = *std::move(made);
    TheGpu().calls.clear();
    return *device_;
  }

  std::unique_ptr<Device> device_;
};

TEST_F(CudaDeviceTest, TheExchangeGoesBeforeTheOthers) {
  device_ = *MakeDeviceOnTheGpu();
  EXPECT_THAT(TheGpu().calls, ElementsAre("queue 1", "queue 2 urgent", "queue 3 urgent", "queue 4"));
}

TEST_F(CudaDeviceTest, AGpuThatDoesNotAnswerIsToldInTheDriversWords) {
  TheGpu().fail_in = "make_queue";
  // The driver is older than CUDA needs it, other processes keep the GPU busy, or there is no GPU.
  for (const int code : {35, 46, 100}) {
    TheGpu().fail_with = code;
    const absl::Status refused = MakeDeviceOnTheGpu().status();
    EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << code;
    EXPECT_THAT(refused.ToString(), HasSubstr("make_queue: the driver's words")) << code;
  }
}

TEST_F(CudaDeviceTest, MarksOrderQueuesAndAreUsedAgain) {
  Device& device = Make();
  device.After(Queue::kExchange, device.Record(Queue::kCompute));
  device.After(Queue::kSnapshot, device.Record(Queue::kExchange));
  device.After(Queue::kSnapshot, Mark());
  EXPECT_THAT(TheGpu().calls, ElementsAre("record 1 on 1", "2 waits for 1", "record 1 on 2", "4 waits for 1"));
  EXPECT_EQ(TheGpu().marks, 1);
}

TEST_F(CudaDeviceTest, CopiesBringDataToTheDeviceAndBack) {
  Device& device = Make();
  absl::StatusOr<Memory> memory = device.Allocate(8, "m");
  absl::StatusOr<PinnedMemory> from = device.AllocatePinned(8, "from"), to = device.AllocatePinned(4, "to");
  ASSERT_TRUE(memory.ok() && from.ok() && to.ok());
  std::memcpy(from->ForWriting(0, 8).data(), "abcdefg", 8);
  device.Run(Queue::kCompute, Copy(from->all(), memory->all()));
  device.Run(Queue::kCompute, Zero(memory->Part(6, 1)));
  device.Run(Queue::kCompute, Copy(memory->Part(4, 4), to->all()));
  ASSERT_TRUE(device.Await(device.Record(Queue::kCompute), nullptr).ok());
  EXPECT_EQ(std::memcmp(to->ForReading(0, 4).data(), "ef\0\0", 4), 0);
}

TEST_F(CudaDeviceTest, TheMostMemoryAtOnceIsRemembered) {
  Device& device = Make();
  EXPECT_EQ(device.Allocated().peak, 0);
  {
    absl::StatusOr<Memory> first = device.Allocate(64, "first"), second = device.Allocate(32, "second");
    absl::StatusOr<PinnedMemory> pinned = device.AllocatePinned(128, "memory of the host");
    ASSERT_TRUE(first.ok() && second.ok() && pinned.ok());
  }
  absl::StatusOr<Memory> later = device.Allocate(80, "later");
  ASSERT_TRUE(later.ok());
  EXPECT_EQ(device.Allocated().now, 80);
  EXPECT_EQ(device.Allocated().peak, 96);
}

TEST_F(CudaDeviceTest, WhatDoesNotFitIsToldWithTheBytesAndLeavesTheDeviceWhole) {
  Device& device = Make();
  const absl::Status refused = device.Allocate(int64_t{1} << 30, "the first moment").status();
  EXPECT_TRUE(absl::IsResourceExhausted(refused));
  EXPECT_THAT(refused.ToString(), HasSubstr("the first moment takes 1.1 GB"));
  EXPECT_EQ(device.Look().state, Health::State::kFine);
  EXPECT_TRUE(device.Allocate(100, "less").ok());
}

TEST_F(CudaDeviceTest, TheFirstErrorStaysWhateverCallItCameFrom) {
  // An illegal address and an ECC error lose the context. A GPU that is off the bus gives an unknown error.
  const std::pair<int, Health::State> errors[] = {
      {700, Health::State::kContextLost}, {214, Health::State::kContextLost}, {999, Health::State::kDeviceLost}};
  for (const auto& [code, state] : errors) {
    for (const char* function : {"record", "wait", "passed", "copy", "fill", "memory"}) {
      SCOPED_TRACE(absl::StrCat(function, " fails with ", code));
      Device& device = Make();
      absl::StatusOr<Memory> memory = device.Allocate(8, "m");
      const absl::StatusOr<Memory> other = device.Allocate(8, "m2");
      TheGpu().fail_in = function;
      TheGpu().fail_with = code;
      const Mark mark = device.Record(Queue::kCompute);
      device.After(Queue::kExchange, mark);
      device.Run(Queue::kCompute, Copy(memory->all(), other->all()));
      device.Run(Queue::kCompute, Zero(memory->all()));
      (void)device.Await(mark, nullptr);
      const Health health = device.Look();
      EXPECT_EQ(health.state, state);
      EXPECT_THAT(health.words, HasSubstr(absl::StrCat(function, ": the driver's words")));
      TheGpu().fail_in.clear();
      EXPECT_FALSE(device.Await(mark, nullptr).ok());
      EXPECT_FALSE(device.Passed(Mark()).ok());
      TheGpu().calls.clear();
      device.Run(Queue::kCompute, Zero(memory->all()));
      (void)device.Record(Queue::kCompute);
      EXPECT_THAT(TheGpu().calls, IsEmpty());
    }
  }
}

TEST_F(CudaDeviceTest, AWaitForAHungQueueCanBeEnded) {
  Device& device = Make();
  TheGpu().hangs = true;
  const Mark mark = device.Record(Queue::kExchange);
  EXPECT_EQ(*device.Passed(mark), false);
  int asked = 0;
  EXPECT_TRUE(absl::IsCancelled(device.Await(mark, [&] { return ++asked < 5; })));
  EXPECT_EQ(device.Look().state, Health::State::kFine);
}

// The driver would wait for the queue that was left, so nothing is freed any more, and the memory is used again.
TEST_F(CudaDeviceTest, AfterAQueueWasLeftMemoryIsKept) {
  Device& device = Make();
  absl::StatusOr<Memory> before = device.Allocate(8, "before");
  absl::StatusOr<PinnedMemory> pinned = device.AllocatePinned(8, "pinned");
  ASSERT_TRUE(before.ok() && pinned.ok());
  device.Leave(Queue::kNccl);
  *before = {};
  *pinned = {};
  EXPECT_EQ(TheGpu().blocks, 2);
  EXPECT_THAT(TheGpu().calls, ElementsAre("record 1 on 1", "record 1 on 2", "record 1 on 4", "record 1 on 1",
                                          "record 1 on 2", "record 1 on 4"));
  {
    const absl::StatusOr<Memory> same = device.Allocate(8, "of the same size"), other = device.Allocate(9, "other");
    const absl::StatusOr<PinnedMemory> again = device.AllocatePinned(8, "pinned again");
    EXPECT_TRUE(same.ok() && other.ok() && again.ok());
    EXPECT_EQ(TheGpu().blocks, 3);
  }
  // The queue that was left and the memory end with the process.
  device_.reset();
  EXPECT_EQ(std::exchange(TheGpu().queues, 0), 1);
  EXPECT_EQ(std::exchange(TheGpu().blocks, 0), 3);
}

TEST_F(CudaDeviceTest, AnOperationWithoutAFormForAGpuIsNamed) {
  Device& device = Make();
  device.Run(Queue::kCompute, {.name = "muon", .reads = {}, .writes = {}, .run = [](const Addresses&) {
                                 ADD_FAILURE() << "the host's form runs on a GPU";
                                 return absl::OkStatus();
                               }});
  EXPECT_THAT(device.Await(device.Record(Queue::kCompute), nullptr).ToString(), HasSubstr("'muon' has no form"));
}

TEST(CudaErrors, EachErrorSaysWhatIsLeft) {
  EXPECT_TRUE(IsOutOfDeviceMemory(2));
  EXPECT_EQ(StateAfter(0), Health::State::kFine);
  // An illegal address, a failed assertion, a misaligned address, a launch failure, an ECC error, an NVLink error, and
  // an error that no version of CUDA has yet.
  for (const int code : {700, 710, 716, 719, 214, 220, 12345}) EXPECT_EQ(StateAfter(code), Health::State::kContextLost);
  for (const int code : {35, 46, 100, 101, 999}) EXPECT_EQ(StateAfter(code), Health::State::kDeviceLost);
}

}  // namespace
}  // namespace rekindle::device
