#include "coordinator/job_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace rekindle::coordinator {
namespace {

using testing::HasSubstr;

class JobFiles : public testing::Test {
 protected:
  void SetUp() override {
    char path[] = "/tmp/rk-files-XXXXXX";
    ASSERT_NE(mkdtemp(path), nullptr);
    folder_ = path;
    spec_.mutable_model()->set_context(10);
    spec_.mutable_data()->set_validation_fraction(0.1);
    spec_.mutable_checkpoint()->set_every_steps(5);
    spec_.mutable_checkpoint()->set_store("file://" + folder_ + "/store/deep");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, size_t bytes) {
    std::ofstream(folder_ + "/" + name) << std::string(bytes, 'x');
    return folder_ + "/" + name;
  }
  std::string Check(const std::string& text) {
    spec_.mutable_data()->clear_text();
    spec_.mutable_data()->add_text(text);
    const absl::Status status = CheckJobFiles(spec_);
    EXPECT_TRUE(status.ok() || status.code() == absl::StatusCode::kInvalidArgument) << status;
    return status.ok() ? "OK" : std::string(status.message());
  }

  std::string folder_;
  v1::JobSpec spec_;
};

TEST_F(JobFiles, GoodOnesPassAndNothingIsLeftBehind) {
  const std::string text = Write("a.txt", 100);
  EXPECT_EQ(Check(text), "OK");
  EXPECT_EQ(Check(folder_ + "/*.txt"), "OK");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(JobFiles, TextIsLookedAt) {
  EXPECT_THAT(Check(folder_ + "/none.txt"), HasSubstr(folder_ + "/none.txt"));
  EXPECT_THAT(Check(folder_ + "/*.none"), HasSubstr("/*.none"));
  EXPECT_THAT(Check(Write("empty", 0)), HasSubstr("empty"));
  EXPECT_THAT(Check(folder_), HasSubstr("spec.data.text"));
  const std::string small = Write("small", 21);
  EXPECT_THAT(Check(small), HasSubstr("has 21 bytes, but spec.model.context 10 needs 22"));
  spec_.mutable_data()->set_validation_fraction(0);
  EXPECT_EQ(Check(small), "OK");
  spec_.mutable_data()->set_max_bytes(5);
  EXPECT_THAT(Check(small), HasSubstr("has 5 bytes"));
}

TEST_F(JobFiles, FilesOfRecordsMustHoldWholeOnes) {
  spec_.mutable_model()->set_context(0);
  auto& images = *spec_.mutable_data()->mutable_images();
  images.add_files(Write("images.bin", 2 * 3073));
  EXPECT_TRUE(CheckJobFiles(spec_).ok());
  images.add_files(Write("torn.bin", 3072));
  EXPECT_THAT(std::string(CheckJobFiles(spec_).message()),
              HasSubstr("spec.data.images.files: " + folder_ + "/torn.bin has 3072 bytes, no multiple of 3073"));
  images.clear_files();
  images.add_files(Write("one.bin", 3073));
  EXPECT_THAT(std::string(CheckJobFiles(spec_).message()), HasSubstr("has 3073 bytes, but 6146 are needed"));
}

TEST_F(JobFiles, StoreMustBeWritable) {
  const std::string text = Write("a.txt", 100);
  spec_.mutable_checkpoint()->set_store("file://" + text + "/store");
  EXPECT_THAT(Check(text), HasSubstr("spec.checkpoint.store"));
  spec_.mutable_checkpoint()->set_store("file://" + text);
  EXPECT_THAT(Check(text), HasSubstr("is a file: name a folder"));
  spec_.mutable_checkpoint()->set_store("file:///proc/rekindle");
  EXPECT_THAT(Check(text), HasSubstr("cannot be written"));
  spec_.mutable_checkpoint()->set_every_steps(0);
  EXPECT_EQ(Check(text), "OK") << "no store is used";
}

}  // namespace
}  // namespace rekindle::coordinator
