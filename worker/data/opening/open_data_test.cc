#include "worker/data/opening/open_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>

#include "common/testing/temporary_folder_testing.h"
#include "rekindle/v1/job.pb.h"
#include "worker/data/declared/image_record.h"
#include "worker/data/declared/limits.h"

namespace rekindle::data {
namespace {

using ::testing::HasSubstr;

constexpr DataNeeds kNeeds{.seed = 1, .context = 8, .classes = 10, .global_batch = 4, .micro_batch = 2};

class OpenDataTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, size_t bytes) {
    std::ofstream(root_ + "/" + name) << std::string(bytes, '\1');
    return root_ + "/" + name;
  }
  absl::StatusOr<OpenedData> Open() {
    return OpenData({.section = std::make_shared<const v1::JobSpec::Data>(section_)}, kNeeds, root_ + "/cache");
  }
  std::string Error() { return std::string(Open().status().message()); }

  const common::TemporaryFolder folder_;
  const std::string root_ = folder_.path();
  v1::JobSpec::Data section_;
};

TEST_F(OpenDataTest, EachKindDeliversItsForm) {
  section_.add_text(Write("a.txt", 100));
  const auto text = Open();
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_EQ(text->batches->Train(0, 0).tokens.size(), 2u * (kNeeds.context + 1));

  section_.Clear();
  section_.add_tokens(Write("a.bin", 200));
  const auto tokens = Open();
  ASSERT_TRUE(tokens.ok()) << tokens.status();
  EXPECT_EQ(tokens->batches->Train(0, 0).tokens[0], 0x0101);

  section_.Clear();
  section_.mutable_images()->add_files(Write("images.bin", 4 * kImageRecordBytes));
  const auto images = Open();
  ASSERT_TRUE(images.ok()) << images.status();
  EXPECT_EQ(images->batches->Train(0, 0).features.size(), 2u * kImagePixels);
  EXPECT_NE(images->fingerprint, tokens->fingerprint);
}

TEST_F(OpenDataTest, AnErrorNamesTheKindAndTheFile) {
  section_.mutable_images()->add_files(Write("torn.bin", kImageRecordBytes - 1));
  EXPECT_THAT(Error(), HasSubstr("data.images: " + root_ + "/torn.bin has 3072 bytes, no multiple of 3073"));
  section_.Clear();
  EXPECT_THAT(Error(), HasSubstr("data.text: "));
}

TEST_F(OpenDataTest, ASectionThatTheCoordinatorRefusesIsNotRead) {
  v1::JobSpec::Table& table = *section_.mutable_table();
  table.add_files(root_ + "/none.parquet");
  table.set_target("kind");
  for (int i = 0; i < kMostFeatures; ++i) table.add_features("column" + std::to_string(i));
  EXPECT_THAT(Error(), HasSubstr("none.parquet"));
  table.add_features("one more");
  EXPECT_THAT(Error(), HasSubstr("data.table: spec.data.table.features: has 4097 columns, at most 4096"));
}

}  // namespace
}  // namespace rekindle::data
