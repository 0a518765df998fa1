#include "worker/device/contract/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "worker/device/contract/host_access.h"
#include "worker/device/testing/every_device_testing.h"
#include "worker/device/testing/pipeline_testing.h"

namespace rekindle::device {
namespace {

using testing::Each;
using testing::HasSubstr;

// Shows that every device keeps the contract.
class DeviceTest : public testing::TestWithParam<DeviceKind> {
 protected:
  const std::unique_ptr<Device> device_ = GetParam().make();
};

Operation Add(const Range& range, float value) {
  return {.name = "add", .reads = {}, .writes = {range}, .run = [bytes = range.bytes, value](const Addresses& at) {
            for (int64_t i = 0; i < bytes / 4; ++i) at.Write<float>(0)[i] += value;
            return absl::OkStatus();
          }};
}

TEST_P(DeviceTest, AQueueKeepsItsOrderAndACopyBringsTheResultToTheHost) {
  const absl::StatusOr<Memory> memory = device_->Allocate(400, "floats");
  absl::StatusOr<PinnedMemory> pinned = device_->AllocatePinned(400, "their copy");
  ASSERT_TRUE(memory.ok() && pinned.ok());
  device_->Run(Queue::kCompute, Zero(memory->all()));
  device_->Run(Queue::kCompute, Add(memory->all(), 1));
  device_->Run(Queue::kCompute, Add(memory->Part(200, 200), 1));
  device_->Run(Queue::kCompute, Copy(memory->all(), pinned->all()));
  const Mark mark = device_->Record(Queue::kCompute);
  ASSERT_TRUE(device_->Await(mark, nullptr).ok());
  EXPECT_EQ(*device_->Passed(mark), true);
  float values[100];
  std::memcpy(values, pinned->ForReading(0, 400).data(), sizeof values);
  EXPECT_EQ(values[0], 1);
  EXPECT_EQ(values[99], 2);
}

// The size is no multiple of the parts in which the bytes pass between the device and the host.
TEST_P(DeviceTest, TheHostWritesAndReadsAllBytes) {
  std::vector<std::byte> bytes((8 << 20) + 20), back(bytes.size());
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 2654435761u >> 24);
  const absl::StatusOr<Memory> memory = device_->Allocate(static_cast<int64_t>(bytes.size()) + 8, "bytes");
  ASSERT_TRUE(memory.ok());
  const Range range = memory->Part(8, static_cast<int64_t>(bytes.size()));
  ASSERT_TRUE(WriteFromHost(*device_, Queue::kCompute, "write", bytes, range).ok());
  ASSERT_TRUE(ReadToHost(*device_, Queue::kCompute, "read", range, back).ok());
  EXPECT_EQ(back, bytes);
  size_t looked_at = 0;
  ASSERT_TRUE(ReadOnHost(*device_, Queue::kCompute, "read", range.Part(3, 9), [&](std::span<const std::byte> part) {
                looked_at += part.size();
                EXPECT_EQ(part[0], bytes[3]);
              }).ok());
  EXPECT_EQ(looked_at, 9u);
  EXPECT_TRUE(ReadOnHost(*device_, Queue::kCompute, "read", range.Part(3, 0), nullptr).ok());
}

TEST_P(DeviceTest, AMarkThatWasNeverRecordedHasPassed) {
  device_->After(Queue::kCompute, Mark());
  EXPECT_TRUE(device_->Await(Mark(), nullptr).ok());
  EXPECT_EQ(*device_->Passed(Mark()), true);
}

TEST_P(DeviceTest, AnErrorOfAnOperationStaysAndTheHealthTellsIt) {
  device_->Run(Queue::kCompute, {.name = "trap", .reads = {}, .writes = {}, .run = [](const Addresses&) {
                                   return absl::InternalError("an illegal instruction");
                                 }});
  const Mark mark = device_->Record(Queue::kCompute);
  for (int again = 0; again < 2; ++again) {
    EXPECT_THAT(device_->Await(mark, nullptr).ToString(), HasSubstr("an illegal instruction"));
  }
  bool has_run = false;
  device_->Run(Queue::kExchange, {.name = "later", .reads = {}, .writes = {}, .run = [&](const Addresses&) {
                                    has_run = true;
                                    return absl::OkStatus();
                                  }});
  EXPECT_FALSE(device_->Await(device_->Record(Queue::kExchange), nullptr).ok());
  EXPECT_FALSE(device_->Passed(mark).ok());
  EXPECT_FALSE(has_run);
  EXPECT_EQ(device_->Look().state, Health::State::kContextLost);
  EXPECT_THAT(device_->Look().words, HasSubstr("an illegal instruction"));
}

TEST_P(DeviceTest, AnOperationMayQueueMoreWork) {
  const absl::StatusOr<Memory> memory = device_->Allocate(4, "a float");
  absl::StatusOr<PinnedMemory> pinned = device_->AllocatePinned(4, "its copy");
  ASSERT_TRUE(memory.ok() && pinned.ok());
  device_->Run(Queue::kCompute, {.name = "backward", .reads = {}, .writes = {}, .run = [&](const Addresses&) {
                                   device_->Run(Queue::kCompute, Zero(memory->all()));
                                   device_->Run(Queue::kCompute, Add(memory->all(), 3));
                                   device_->After(Queue::kExchange, device_->Record(Queue::kCompute));
                                   device_->Run(Queue::kExchange, Copy(memory->all(), pinned->all()));
                                   device_->After(Queue::kCompute, device_->Record(Queue::kExchange));
                                   return absl::OkStatus();
                                 }});
  ASSERT_TRUE(device_->Await(device_->Record(Queue::kCompute), nullptr).ok());
  ASSERT_TRUE(device_->Await(device_->Record(Queue::kExchange), nullptr).ok());
  float value = 0;
  std::memcpy(&value, pinned->ForReading(0, 4).data(), 4);
  EXPECT_EQ(value, 3);
}

TEST_P(DeviceTest, ReservedMemoryCanBeUsedWhereItWasCommitted) {
  const absl::StatusOr<Memory> memory = device_->Reserve(2 * kCommitBytes + 8, "the moments");
  absl::StatusOr<PinnedMemory> pinned = device_->AllocatePinned(8, "a copy");
  ASSERT_TRUE(memory.ok() && pinned.ok());
  const Range last = memory->Part(2 * kCommitBytes, 8);
  for (int again = 0; again < 2; ++again) {
    ASSERT_TRUE(device_->Commit(last).ok());
    device_->Run(Queue::kCompute, Zero(last));
    device_->Run(Queue::kCompute, Add(last, 2));
    ASSERT_TRUE(RunAndAwait(*device_, Queue::kCompute, Copy(last, pinned->all())).ok());
    float values[2];
    std::memcpy(values, pinned->ForReading(0, 8).data(), sizeof values);
    EXPECT_EQ(values[1], 2);
    device_->Decommit(last);
  }
}

TEST_P(DeviceTest, EmptyMemoryIsOfNoUseAndNoHarm) {
  const absl::StatusOr<Memory> memory = device_->Allocate(0, "nothing");
  ASSERT_TRUE(memory.ok());
  device_->Run(Queue::kCompute, Zero(memory->all()));
  EXPECT_TRUE(device_->Await(device_->Record(Queue::kCompute), nullptr).ok());
  EXPECT_EQ(Memory().all().bytes, 0);
}

TEST_P(DeviceTest, AStepAndItsSnapshotsHaveTheSameBits) {
  const auto host = PlayPipeline(*EveryDevice().front().make(), 5);
  const auto here = PlayPipeline(*device_, 5);
  ASSERT_TRUE(host.ok() && here.ok());
  EXPECT_EQ(*host, *here);
  ASSERT_FALSE(host->empty());
  EXPECT_NE(host->front(), 0);
  EXPECT_THAT(*host, Each(testing::Not(testing::IsNan())));
}

TEST(RangeTest, APartLiesWithinItsRange) {
  const std::unique_ptr<Device> host = EveryDevice().front().make();
  const absl::StatusOr<Memory> memory = host->Allocate(100, "bytes");
  EXPECT_EQ(memory->Part(40, 60).Part(10, 50).offset, 50);
  EXPECT_DEATH(memory->Part(40, 61), "a part of a range lies within the range");
  EXPECT_DEATH(memory->Part(40, 60).Part(-1, 5), "a part of a range lies within the range");
}

INSTANTIATE_TEST_SUITE_P(All, DeviceTest, testing::ValuesIn(EveryDevice()),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace rekindle::device
