// Tests that what a device splits is what the host would write, however little room the device has.
#include "worker/train/save/plane_scratch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "worker/device/contract/host_access.h"
#include "worker/device/fake/fake_device.h"
#include "worker/device/testing/gpu_table_testing.h"

namespace rekindle::train {
namespace {

using checkpoint::Precision;
using checkpoint::ShardRange;
using checkpoint::WrittenPlanes;
using device::Queue;
using testing::HasSubstr;

constexpr int64_t kOrigin = 4096, kShard = 3000, kShards = 7;
constexpr int64_t kElements = kShard * kShards - 500;
constexpr int64_t kTotal = kOrigin + kElements + 1000;

std::vector<ShardRange> Ranges() {
  std::vector<ShardRange> ranges;
  for (int i = 0; i < kShards; ++i) {
    ranges.push_back({.begin = kOrigin + i * kShard,
                      .end = std::min(kOrigin + (i + 1) * kShard, kOrigin + kElements),
                      .index = i + 2,
                      .count = kShards + 3});
  }
  return ranges;
}

// Returns values that differ from one `kind` of array to the next, with a few exceptions (plane_split.h) among them.
std::vector<float> Values(int kind, int rare = 1500) {
  std::vector<float> values(static_cast<size_t>(kElements));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = std::sin(static_cast<float>(kind + 1) * 0.37f * static_cast<float>(i));
    if (i % static_cast<size_t>(rare) == 7) values[i] = 1e-32f * static_cast<float>(i + 1);
  }
  return values;
}

// Holds the planes of a shard and what was told of them.
struct Shard {
  std::vector<uint8_t> planes[2];
  int64_t nonfinite = 0;

  bool operator==(const Shard&) const = default;
};

template <typename Write>
Shard ShardOf(const ShardRange& range, Precision precision, const Write& write) {
  const checkpoint::PlaneBytes room = SizeOfPlanes(kTotal, range, precision, range.end - range.begin);
  Shard shard{.planes = {std::vector<uint8_t>(static_cast<size_t>(room.plane0)),
                         std::vector<uint8_t>(static_cast<size_t>(room.plane1))}};
  const absl::StatusOr<WrittenPlanes> written = write(shard.planes[0], shard.planes[1]);
  EXPECT_TRUE(written.ok()) << written.status();
  if (!written.ok()) return shard;
  for (int plane : {0, 1}) shard.planes[plane].resize(static_cast<size_t>(written->at(plane).bytes));
  shard.nonfinite = written->nonfinite;
  return shard;
}

std::vector<Shard> OnHost(const std::vector<std::vector<float>>& arrays, Precision precision) {
  std::vector<Shard> shards;
  for (const ShardRange& range : Ranges()) {
    shards.push_back(ShardOf(range, precision, [&](std::span<uint8_t> plane0, std::span<uint8_t> plane1) {
      return WritePlanes({.weights = arrays[0].data(),
                          .first_moment = arrays.size() > 1 ? arrays[1].data() : nullptr,
                          .second_moment = arrays.size() > 2 ? arrays[2].data() : nullptr,
                          .total = kTotal,
                          .origin = kOrigin},
                         range, precision, plane0, plane1);
    }));
  }
  return shards;
}

// Holds a state on a device and its scratch.
class Rank {
 public:
  Rank(device::Device& device, const std::vector<std::vector<float>>& arrays) : device_(device), scratch_(device) {
    for (const std::vector<float>& array : arrays) {
      const auto bytes = std::as_bytes(std::span(array));
      auto memory = device.Allocate(static_cast<int64_t>(bytes.size()), "the state");
      EXPECT_TRUE(memory.ok()) << memory.status();
      EXPECT_TRUE(WriteFromHost(device, Queue::kCompute, "write", bytes, memory->all()).ok());
      memory_.push_back(*std::move(memory));
    }
  }

  PlaneScratch& scratch() { return scratch_; }
  size_t moments() const { return memory_.size() - 1; }

  absl::Status Begin(Precision precision, double seconds = 30) {
    PlaneScratch::State state{.origin = kOrigin, .ready = device_.Record(Queue::kCompute)};
    for (const device::Memory& memory : memory_) state.parts.push_back(memory.all());
    return scratch_.Begin(std::move(state), Ranges(), precision, seconds);
  }
  // Changes the state, as an optimizer does.
  void Change() {
    scratch_.HoldBack();
    for (const device::Memory& memory : memory_) device_.Run(Queue::kCompute, device::Zero(memory.all()));
  }
  // Takes shards `from` to `end`.
  std::vector<Shard> Take(Precision precision, size_t from = 0, size_t end = kShards) {
    std::vector<Shard> shards;
    const std::vector<ShardRange> ranges = Ranges();
    for (size_t i = from; i < end; ++i) {
      shards.push_back(ShardOf(ranges[i], precision, [&](std::span<uint8_t> plane0, std::span<uint8_t> plane1) {
        const absl::StatusOr<checkpoint::SplitRange> split = scratch_.Next(ranges[i]);
        EXPECT_TRUE(split.ok()) << split.status();
        return WriteSplitPlanes(split.value_or(checkpoint::SplitRange()), kTotal, ranges[i], precision, plane0, plane1);
      }));
    }
    return shards;
  }

 private:
  device::Device& device_;
  std::vector<device::Memory> memory_;
  PlaneScratch scratch_;
};

std::unique_ptr<device::Device> MakeFake(int64_t memory_bytes = int64_t{1} << 30, uint64_t seed = 1) {
  return device::MakeFakeDevice({.seed = seed,
                                 .memory_bytes = memory_bytes,
                                 .on_report = [](const std::string& report) { ADD_FAILURE() << report; }});
}

std::unique_ptr<device::Device> MakeTable() {
  device::TheGpu() = device::GpuTable();
  device::TheGpu().is_busy = true;
  device::TheGpu().free_bytes = size_t{1} << 30;
  return *device::MakeDeviceOnTheGpu();
}

TEST(PlaneScratch, ADeviceWritesTheBytesThatTheHostWrites) {
  for (const auto& make : {+[] { return MakeFake(); }, &MakeTable}) {
    for (const Precision precision : {Precision::kExact, Precision::kFp16, Precision::kBf16}) {
      for (const size_t moments : {size_t{0}, size_t{1}, size_t{2}}) {
        std::vector<std::vector<float>> arrays;
        for (size_t i = 0; i <= moments; ++i) arrays.push_back(Values(static_cast<int>(i)));
        arrays.back()[5] = INFINITY;
        const std::unique_ptr<device::Device> device = make();
        Rank rank(*device, arrays);
        ASSERT_TRUE(rank.scratch().Fit(Ranges(), precision, moments).ok());
        ASSERT_TRUE(rank.Begin(precision).ok());
        EXPECT_TRUE(rank.scratch().IsSplit());
        rank.Change();
        EXPECT_EQ(rank.Take(precision), OnHost(arrays, precision)) << static_cast<int>(precision) << ", " << moments;
        rank.scratch().End();
      }
    }
  }
}

TEST(PlaneScratch, WhatDoesNotFitIsSplitWhileItIsCopied) {
  const std::vector<std::vector<float>> arrays = {Values(0), Values(1), Values(2)};
  const int64_t slot = SlotLayout(kShard, 64, Precision::kExact, 2).bytes;
  const int64_t state = 3 * kElements * static_cast<int64_t>(sizeof(float));
  for (const int64_t slots : {1, 2, 3, 6}) {
    const std::unique_ptr<device::Device> device = MakeFake(state + slots * slot, static_cast<uint64_t>(slots));
    Rank rank(*device, arrays);
    ASSERT_TRUE(rank.scratch().Fit(Ranges(), Precision::kExact, 2).ok());
    for (int round = 0; round < 3; ++round) {
      ASSERT_TRUE(rank.Begin(Precision::kExact).ok());
      ASSERT_FALSE(rank.scratch().IsSplit());
      std::vector<Shard> got;
      while (!rank.scratch().IsSplit()) {
        const size_t next = got.size();
        for (Shard& shard : rank.Take(Precision::kExact, next, next + 1)) got.push_back(std::move(shard));
      }
      if (round == 2) rank.Change();
      for (Shard& shard : rank.Take(Precision::kExact, got.size())) got.push_back(std::move(shard));
      EXPECT_EQ(got, OnHost(arrays, Precision::kExact)) << slots;
      rank.scratch().End();
    }
  }
}

TEST(PlaneScratch, ADeviceWithoutRoomForOneShardSaysSo) {
  const std::vector<std::vector<float>> arrays = {Values(0)};
  const std::unique_ptr<device::Device> device = MakeFake(kElements * static_cast<int64_t>(sizeof(float)) + 100);
  Rank rank(*device, arrays);
  const absl::Status refused = rank.scratch().Fit(Ranges(), Precision::kExact, 0);
  EXPECT_TRUE(absl::IsResourceExhausted(refused));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("the planes of a snapshot"));
  EXPECT_TRUE(absl::IsResourceExhausted(rank.Begin(Precision::kExact, 0)));
}

TEST(PlaneScratch, AShardWithTooManyExceptionsIsLostAndTheNextSnapshotHasRoom) {
  const std::vector<std::vector<float>> arrays = {Values(0, 9)};
  const std::unique_ptr<device::Device> device = MakeFake();
  Rank rank(*device, arrays);
  ASSERT_TRUE(rank.Begin(Precision::kExact).ok());
  const absl::Status lost = rank.scratch().Next(Ranges()[0]).status();
  EXPECT_TRUE(absl::IsUnavailable(lost));
  EXPECT_THAT(std::string(lost.message()), HasSubstr("shard 2 has 333 exceptions, and there was room for 64"));
  rank.scratch().End();
  ASSERT_TRUE(rank.Begin(Precision::kExact).ok());
  EXPECT_EQ(rank.Take(Precision::kExact), OnHost(arrays, Precision::kExact));
}

TEST(PlaneScratch, OnlyOneSnapshotAtATime) {
  const std::vector<std::vector<float>> arrays = {Values(0)};
  const std::unique_ptr<device::Device> device = MakeFake();
  Rank rank(*device, arrays);
  ASSERT_TRUE(rank.Begin(Precision::kBf16).ok());
  EXPECT_TRUE(absl::IsDeadlineExceeded(rank.Begin(Precision::kBf16, 0)));
  rank.scratch().End();
  ASSERT_TRUE(rank.Begin(Precision::kBf16, 0).ok());
  EXPECT_EQ(rank.Take(Precision::kBf16), OnHost(arrays, Precision::kBf16));
}

// Each order in which the scratch asks for something is taken out in turn, and the device has to find that.
TEST(PlaneScratch, EachOrderIsNeeded) {
  const std::vector<std::vector<float>> arrays = {Values(0), Values(1)};
  const int64_t slot = SlotLayout(kShard, 64, Precision::kExact, 1).bytes;
  const int64_t state = 2 * kElements * static_cast<int64_t>(sizeof(float));
  const auto play = [&](const std::string& ignored) {
    const auto device = device::MakeFakeDevice(
        {.seed = 3, .memory_bytes = state + kShards * slot, .ignored_place = ignored, .on_report = nullptr});
    Rank rank(*device, arrays);
    EXPECT_TRUE(rank.scratch().Fit(Ranges(), Precision::kExact, 1).ok());
    // The optimizer of the step before is still queued when the snapshot begins.
    rank.Change();
    EXPECT_TRUE(rank.Begin(Precision::kExact).ok());
    rank.Change();
    rank.Take(Precision::kExact);
    rank.scratch().End();
    EXPECT_TRUE(device->Await(device->Record(Queue::kCompute), nullptr).ok());
    return std::pair(device->Reports().size(), device->OrderPlaces());
  };
  const auto [reports, places] = play("");
  EXPECT_EQ(reports, 0u);
  int of_scratch = 0;
  for (const std::string& place : places) {
    if (place.find("plane_scratch.cc") == std::string::npos) continue;
    ++of_scratch;
    EXPECT_GT(play(place).first, 0u) << place;
  }
  EXPECT_EQ(of_scratch, 3);
}

}  // namespace
}  // namespace rekindle::train
