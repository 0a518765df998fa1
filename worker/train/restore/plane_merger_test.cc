// Tests that a device merges the planes of a checkpoint to the bits that the processor would restore.
#include "worker/train/restore/plane_merger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "worker/device/contract/host_access.h"
#include "worker/device/fake/fake_device.h"
#include "worker/device/testing/gpu_table_testing.h"

namespace rekindle::train {
namespace {

using checkpoint::ElementRange;
using checkpoint::Precision;
using checkpoint::ShardRange;

constexpr int64_t kBlock = checkpoint::kBlockElements;
// The last shard is shorter, and the pieces of a shard end in the middle of ranges of moments.
constexpr int64_t kShards = 4, kTotal = kShards * kBlock - 700, kPiece = 5 * 1024;

std::vector<float> Values(int kind, bool exceptions) {
  std::vector<float> values(static_cast<size_t>(kTotal));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = std::sin(static_cast<float>(kind + 1) * 0.37f * static_cast<float>(i));
    // An exception is far below the largest weight of its block.
    if (exceptions && i % 30'000 == 7) values[i] = 1e-32f * static_cast<float>(i + 1);
  }
  return values;
}

struct Files {
  std::vector<uint8_t> planes[2];
};

std::vector<Files> Write(const std::vector<std::vector<float>>& arrays, Precision precision) {
  std::vector<Files> files;
  for (int64_t i = 0; i < kShards; ++i) {
    const ShardRange range{.begin = i * kBlock, .end = std::min((i + 1) * kBlock, kTotal)};
    const checkpoint::PlaneBytes room = checkpoint::SizeOfPlanes(kTotal, range, precision, range.end - range.begin);
    Files& shard = files.emplace_back();
    shard.planes[0].resize(static_cast<size_t>(room.plane0));
    shard.planes[1].resize(static_cast<size_t>(room.plane1));
    const auto written = checkpoint::WritePlanes({.weights = arrays[0].data(),
                                                  .first_moment = arrays[1].data(),
                                                  .second_moment = arrays[2].data(),
                                                  .total = kTotal},
                                                 range, precision, shard.planes[0], shard.planes[1]);
    EXPECT_TRUE(written.ok()) << written.status();
    for (int plane : {0, 1}) shard.planes[plane].resize(static_cast<size_t>(written->at(plane).bytes));
  }
  return files;
}

// Holds what is restored. Elements that were not wanted are zeros.
using Arrays = std::vector<std::vector<float>>;

Arrays OnHost(const std::vector<Files>& files, const std::vector<ElementRange>& wanted) {
  Arrays arrays(3, std::vector<float>(static_cast<size_t>(kTotal)));
  for (const Files& shard : files) {
    const auto read = checkpoint::ReadPlanes(shard.planes[0], shard.planes[1],
                                             {.weights = arrays[0].data(),
                                              .first_moment = arrays[1].data(),
                                              .second_moment = arrays[2].data(),
                                              .total = kTotal,
                                              .moments = &wanted});
    EXPECT_TRUE(read.ok()) << read.status();
  }
  return arrays;
}

FloatBuffer Zeros(device::Device& device) {
  absl::StatusOr<FloatBuffer> buffer = FloatBuffer::Zeros(device, kTotal, "an array");
  EXPECT_TRUE(buffer.ok()) << buffer.status();
  return *std::move(buffer);
}

// Merges the shards with as many threads as a restore has.
Arrays OnDevice(device::Device& device, const std::vector<Files>& files, const std::vector<ElementRange>& wanted) {
  TrainState state{.weights = Zeros(device), .first_moment = Zeros(device), .second_moment = Zeros(device)};
  {
    PlaneMerger merger(device, state, wanted, kPiece);
    EXPECT_TRUE(merger.Allocate().ok());
    std::atomic<size_t> next = 0;
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (size_t shard = next++; shard < files.size(); shard = next++) {
          const auto read = merger.Merge(files[shard].planes[0], files[shard].planes[1]);
          EXPECT_TRUE(read.ok()) << read.status();
        }
      });
    }
  }
  Arrays arrays;
  for (const FloatBuffer* buffer : {&state.weights, &state.first_moment, &state.second_moment}) {
    arrays.emplace_back(static_cast<size_t>(kTotal));
    EXPECT_TRUE(ReadToHost(device, device::Queue::kCompute, "read", buffer->all(),
                           std::as_writable_bytes(std::span(arrays.back())))
                    .ok());
  }
  return arrays;
}

std::unique_ptr<device::Device> MakeFake() {
  return device::MakeFakeDevice({.seed = 7, .on_report = [](const std::string& report) { ADD_FAILURE() << report; }});
}

std::unique_ptr<device::Device> MakeTable() {
  device::TheGpu() = device::GpuTable();
  device::TheGpu().is_busy = true;
  device::TheGpu().free_bytes = size_t{1} << 30;
  return *device::MakeDeviceOnTheGpu();
}

TEST(PlaneMerger, ADeviceRestoresTheBitsThatTheProcessorRestores) {
  for (const auto& make : {&MakeFake, &MakeTable}) {
    for (const Precision precision : {Precision::kExact, Precision::kFp16, Precision::kBf16}) {
      for (const bool exceptions : {false, true}) {
        const std::vector<Files> files = Write({Values(0, exceptions), Values(1, false), Values(2, false)}, precision);
        const std::vector<std::vector<ElementRange>> choices = {
            {{0, kTotal}}, {{kBlock, 2 * kBlock}, {3 * kBlock, kTotal}}, {}};
        for (const std::vector<ElementRange>& wanted : choices) {
          const std::unique_ptr<device::Device> device = make();
          EXPECT_EQ(OnDevice(*device, files, wanted), OnHost(files, wanted))
              << static_cast<int>(precision) << ", " << exceptions << ", " << wanted.size();
        }
      }
    }
  }
}

TEST(PlaneMerger, DamagedPlanesAreRefusedAndTheOthersMerged) {
  std::vector<Files> files = Write({Values(0, false), Values(1, false), Values(2, false)}, Precision::kExact);
  const std::unique_ptr<device::Device> device = MakeFake();
  const std::vector<ElementRange> wanted;
  TrainState state{.weights = Zeros(*device), .first_moment = {}, .second_moment = {}};
  PlaneMerger merger(*device, state, wanted, kPiece);
  ASSERT_TRUE(merger.Allocate().ok());
  files[1].planes[0].resize(files[1].planes[0].size() / 2);
  EXPECT_TRUE(absl::IsInvalidArgument(merger.Merge(files[1].planes[0], files[1].planes[1]).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(merger.Merge(files[0].planes[0], files[2].planes[1]).status()));
  EXPECT_TRUE(merger.Merge(files[0].planes[0], files[0].planes[1]).ok());
}

TEST(PlaneMerger, ADeviceWithLittleRoomRestoresInSmallerPieces) {
  const std::vector<Files> files = Write({Values(0, true), Values(1, false), Values(2, false)}, Precision::kExact);
  const std::vector<ElementRange> wanted = {{0, kTotal}};
  const std::unique_ptr<device::Device> device =
      device::MakeFakeDevice({.seed = 7, .memory_bytes = 3 * kTotal * static_cast<int64_t>(sizeof(float)) + 200'000});
  EXPECT_EQ(OnDevice(*device, files, wanted), OnHost(files, wanted));
}

TEST(PlaneMerger, ADeviceWithoutRoomSaysSo) {
  const std::unique_ptr<device::Device> device =
      device::MakeFakeDevice({.memory_bytes = kTotal * static_cast<int64_t>(sizeof(float)) + 50'000});
  const std::vector<ElementRange> wanted;
  TrainState state{.weights = Zeros(*device), .first_moment = {}, .second_moment = {}};
  PlaneMerger merger(*device, state, wanted);
  const absl::Status refused = merger.Allocate();
  EXPECT_TRUE(absl::IsResourceExhausted(refused));
  EXPECT_THAT(std::string(refused.message()), testing::HasSubstr("the planes of a checkpoint"));
}

// The host may write planes to pinned memory only when those before are copied from there. That order is taken out,
// and the device has to find it.
TEST(PlaneMerger, EachOrderIsNeeded) {
  const std::vector<Files> files = Write({Values(0, false), Values(1, false), Values(2, false)}, Precision::kExact);
  const auto play = [&](const std::string& ignored) {
    const auto device = device::MakeFakeDevice({.seed = 7, .ignored_place = ignored, .on_report = nullptr});
    OnDevice(*device, files, {{0, kTotal}});
    return std::pair(device->Reports().size(), device->OrderPlaces());
  };
  const auto [reports, places] = play("");
  EXPECT_EQ(reports, 0u);
  int of_merger = 0;
  for (const std::string& place : places) {
    if (place.find("plane_merger.cc") == std::string::npos) continue;
    ++of_merger;
    EXPECT_GT(play(place).first, 0u) << place;
  }
  EXPECT_EQ(of_merger, 1);
}

}  // namespace
}  // namespace rekindle::train
