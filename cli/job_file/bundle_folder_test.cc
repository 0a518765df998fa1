#include "cli/job_file/bundle_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "common/testing/temporary_folder_testing.h"

namespace rekindle::cli {
namespace {

using testing::HasSubstr;

class BundleFolderTest : public testing::Test {
 protected:
  // Reads a job file that names `bundle`.
  JobDocument Read(const std::string& bundle) const {
    const std::string path = folder_.path() + "/job.yaml";
    std::ofstream(path) << "name: a\nspec: {model: {python: 'train:task', bundle: " << bundle << "}}\n";
    absl::StatusOr<JobDocuments> file = ReadJobDocuments(path);
    EXPECT_TRUE(file.ok()) << file.status();
    return file.ok() ? file->documents.front() : JobDocument();
  }

  const common::TemporaryFolder folder_;
};

TEST_F(BundleFolderTest, AFolderIsPackedAndNamedByItsAddress) {
  std::filesystem::create_directory(folder_.path() + "/code");
  std::ofstream(folder_.path() + "/code/train.py") << "x";
  JobDocument document = Read("code");
  EXPECT_EQ(BundleFolderOf(document.job), folder_.path() + "/code");
  ASSERT_TRUE(PrepareBundle(&document).ok());
  ASSERT_NE(document.bundle, nullptr);
  EXPECT_EQ(document.job.spec().model().bundle(), document.bundle->bundle.summary.address);
  EXPECT_EQ(document.bundle->bundle.summary.files, 1);
  EXPECT_EQ(BundleFolderOf(document.job), "");
}

TEST_F(BundleFolderTest, AnAddressStaysAsItIs) {
  JobDocument document = Read(std::string(64, 'a'));
  EXPECT_EQ(document.job.spec().model().bundle(), std::string(64, 'a'));
  EXPECT_TRUE(PrepareBundle(&document).ok());
  EXPECT_EQ(document.bundle, nullptr);
}

TEST_F(BundleFolderTest, WhatCannotBePackedNamesTheField) {
  JobDocument document = Read("nowhere");
  const absl::Status status = PrepareBundle(&document);
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("spec.model.bundle: " + folder_.path() + "/nowhere is no folder"));
}

}  // namespace
}  // namespace rekindle::cli
