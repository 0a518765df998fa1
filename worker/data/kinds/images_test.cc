#include "worker/data/kinds/images.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace rekindle::data {
namespace {

const BatchShape kShape{.seed = 1, .global_batch = 8, .micro_batch = 4, .validation_fraction = 0.2};

// Returns `count` images. Image i has label i % 10 and pixels of i + 1, except for one white spot in its red plane.
std::vector<uint8_t> Records(int count) {
  std::vector<uint8_t> records;
  for (int i = 0; i < count; ++i) {
    records.push_back(static_cast<uint8_t>(i % 10));
    records.insert(records.end(), kImagePixels, static_cast<uint8_t>(i + 1));
    records[records.size() - kImagePixels + 16 * kImageSide + 10] = 255;
  }
  return records;
}

TEST(ImagesTest, WithoutAugmentationPixelsAreOnlyScaled) {
  const auto records = Records(20);
  auto batches = MakeImageBatches(records, 10, false, kShape);
  ASSERT_TRUE(batches.ok()) << batches.status();
  const train::MicroBatch batch = (*batches)->Train(0, 1);
  ASSERT_EQ(batch.features.size(), 4u * kImagePixels);
  EXPECT_EQ(batch.first, 4);
  for (int i = 0; i < 4; ++i) {
    const float* image = batch.features.data() + i * kImagePixels;
    const int number = static_cast<int>((image[0] + 1) * 127.5f + 0.5f) - 1;
    EXPECT_EQ(batch.targets[i], static_cast<float>(number % 10));
    EXPECT_EQ(image[16 * kImageSide + 10], 1.0f);
    EXPECT_EQ(image[kImagePixels - 1], image[0]);
  }
}

TEST(ImagesTest, AugmentationMovesTheSpotByUpToFourPixelsAlikeOnEveryRank) {
  const auto records = Records(20);
  auto one = MakeImageBatches(records, 10, true, kShape), other = MakeImageBatches(records, 10, true, kShape);
  (*other)->Train(5, 1);
  bool mirrored = false, kept = false, moved = false;
  for (int step = 0; step < 20; ++step) {
    const train::MicroBatch batch = (*one)->Train(step, 1);
    EXPECT_EQ(batch.features, (*other)->Train(step, 1).features);
    for (int i = 0; i < 4; ++i) {
      const auto image = batch.features.begin() + i * kImagePixels;
      const auto spot = std::find(image, image + kImageSide * kImageSide, 1.0f);
      ASSERT_NE(spot, image + kImageSide * kImageSide);
      const int y = static_cast<int>(spot - image) / kImageSide, x = static_cast<int>(spot - image) % kImageSide;
      EXPECT_LE(std::abs(y - 16), 4);
      EXPECT_TRUE(std::abs(x - 10) <= 4 || std::abs(x - 21) <= 4) << x;
      kept |= x <= 14;
      mirrored |= x >= 17;
      moved |= y != 16;
    }
  }
  EXPECT_TRUE(kept && mirrored && moved);
  EXPECT_NE((*one)->Train(0, 0).features, (*one)->Train(20, 0).features);
  // Images for validation are not changed.
  EXPECT_EQ((*one)->Validation(0).features[16 * kImageSide + 10], 1.0f);
}

TEST(ImagesTest, DamagedRecordsAreRefusedWithTheirNumber) {
  auto records = Records(20);
  records.pop_back();
  EXPECT_FALSE(MakeImageBatches(records, 10, true, kShape).ok());
  records = Records(20);
  records[7 * kImageRecordBytes] = 10;
  const auto batches = MakeImageBatches(records, 10, true, kShape);
  ASSERT_FALSE(batches.ok());
  EXPECT_NE(batches.status().message().find("record 7"), std::string::npos) << batches.status();
}

}  // namespace
}  // namespace rekindle::data
