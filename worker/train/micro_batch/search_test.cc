#include "worker/train/micro_batch/search.h"

#include <gtest/gtest.h>

#include <vector>

namespace rekindle::train {
namespace {

constexpr double kGiga = 1e9;

// Simulates a device. A micro-batch costs `start` seconds and `each` seconds more for each sample. It needs
// `base_bytes` bytes of memory and `bytes_each` bytes more for each sample.
struct Device {
  double start = 0;
  double each = 1;
  double base_bytes = 0;
  double bytes_each = 0;
  int refuses_from = 1 << 30;
  std::vector<int> tried;

  absl::StatusOr<MicroBatchChoice> Search(int global_batch, int at_most, double bytes = 8 * kGiga) {
    tried.clear();
    return SearchMicroBatch({global_batch, at_most, bytes}, [this](int size) -> absl::StatusOr<MicroBatchTrial> {
      tried.push_back(size);
      if (size >= refuses_from) return MicroBatchTrial{.refused = "killed by signal 9"};
      return MicroBatchTrial{.bytes = base_bytes + bytes_each * size, .seconds = start + each * size};
    });
  }
};

TEST(MicroBatchSearch, DoublesToTheMostAllowedWhileItGetsFaster) {
  Device device{.start = 10};
  const auto choice = device.Search(64, 16);
  ASSERT_TRUE(choice.ok()) << choice.status();
  EXPECT_EQ(choice->micro_batch, 16);
  EXPECT_EQ(device.tried, (std::vector<int>{1, 2, 4, 8, 16}));
  EXPECT_EQ(choice->reason, "16 is the most that leaves enough micro-batches of 64 samples to deal out");
}

TEST(MicroBatchSearch, KeepsWithinMemoryAndSaysWhatMoreWouldNeed) {
  Device device{.start = 1000, .base_bytes = kGiga, .bytes_each = 0.3 * kGiga};
  const auto choice = device.Search(64, 64);
  ASSERT_TRUE(choice.ok()) << choice.status();
  EXPECT_EQ(choice->micro_batch, 16);
  EXPECT_EQ(choice->reason, "32 would need 10.6 GB of 8.0 GB");
}

TEST(MicroBatchSearch, BisectsBetweenWhatFitsAndWhatDoesNot) {
  // Micro-batches of up to 20 samples fit the 8 GB of the device.
  Device device{.start = 1000, .bytes_each = 0.4 * kGiga};
  const auto choice = device.Search(720, 720);
  ASSERT_TRUE(choice.ok()) << choice.status();
  EXPECT_EQ(choice->micro_batch, 20);
  EXPECT_EQ(choice->reason, "24 would need 9.6 GB of 8.0 GB");
  EXPECT_EQ(device.tried, (std::vector<int>{1, 2, 4, 8, 16, 36, 20, 24}));
}

TEST(MicroBatchSearch, TakesARefusalAsTooMuch) {
  Device device{.start = 1000, .refuses_from = 10};
  const auto choice = device.Search(32, 32);
  ASSERT_TRUE(choice.ok()) << choice.status();
  EXPECT_EQ(choice->micro_batch, 8);
  EXPECT_EQ(choice->reason, "16 ran out of memory: killed by signal 9");
}

TEST(MicroBatchSearch, StopsWhereMoreIsNoFasterAndTakesTheSmallest) {
  // Micro-batches of 1, 2, 4, ... samples need 1.06, 1.03, 1.015, ... seconds per sample.
  Device device{.start = 0.06};
  const auto choice = device.Search(1024, 1024);
  ASSERT_TRUE(choice.ok()) << choice.status();
  EXPECT_EQ(choice->micro_batch, 2);
  EXPECT_EQ(choice->reason, "4 is no faster: 1015 ms a sample, 2: 1030 ms");
  EXPECT_EQ(device.tried, (std::vector<int>{1, 2, 4}));
}

TEST(MicroBatchSearch, TriesOnlySizesThatDivideTheBatch) {
  Device device{.start = 100};
  const auto choice = device.Search(15, 7);
  ASSERT_TRUE(choice.ok()) << choice.status();
  EXPECT_EQ(choice->micro_batch, 5);
  EXPECT_EQ(device.tried, (std::vector<int>{1, 3, 5}));
}

TEST(MicroBatchSearch, IsRefusedWhereNotEvenOneSampleFits) {
  Device device{.base_bytes = 9.1 * kGiga};
  const auto choice = device.Search(64, 16);
  EXPECT_EQ(choice.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(choice.status().message(),
            "training.micro_batch auto: one sample a micro-batch would need 9.1 GB of 8.0 GB; train a smaller model, "
            "set training.activations recompute, or give the node more memory");
}

TEST(MicroBatchSearch, EndsWithAnErrorOfATrial) {
  const auto choice = SearchMicroBatch({8, 8, kGiga}, [](int size) -> absl::StatusOr<MicroBatchTrial> {
    if (size == 2) return absl::InvalidArgumentError("data.text: no file matches");
    return MicroBatchTrial{.seconds = 1};
  });
  EXPECT_EQ(choice.status().message(), "data.text: no file matches");
}

}  // namespace
}  // namespace rekindle::train
