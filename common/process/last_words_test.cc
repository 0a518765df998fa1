#include "common/process/last_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "common/agreed/agreed_limits.h"
#include "common/testing/temporary_folder_testing.h"

namespace rekindle::common {
namespace {

class LastWordsTest : public testing::Test {
 protected:
  LastWordsTest() : path_(LastWordsPath(folder_.path(), "n1/0/abcd")) {
    std::filesystem::create_directory(folder_.path() + "/last_words");
  }

  TemporaryFolder folder_;
  const std::string path_;
};

TEST_F(LastWordsTest, AreTakenOnce) {
  ASSERT_TRUE(WriteLastWords(path_, "the GPU is lost").ok());
  EXPECT_EQ(TakeLastWords(path_), "the GPU is lost");
  EXPECT_EQ(TakeLastWords(path_), "");
}

TEST_F(LastWordsTest, LongWordsAreCut) {
  ASSERT_TRUE(WriteLastWords(path_, std::string(kLongestLastWords + 1, 'x')).ok());
  EXPECT_EQ(TakeLastWords(path_), std::string(kLongestLastWords, 'x'));
}

TEST_F(LastWordsTest, WhatATerminalWouldObeyIsReplaced) {
  ASSERT_TRUE(WriteLastWords(path_, "lost\x1b[2J\nreally").ok());
  EXPECT_THAT(TakeLastWords(path_), testing::Not(testing::AnyOf(testing::HasSubstr("\x1b"), testing::HasSubstr("\n"))));
}

TEST_F(LastWordsTest, AFileOfSomebodyElseIsReadWithinItsLimit) {
  std::ofstream(path_) << std::string(1 << 20, 'y');
  EXPECT_EQ(TakeLastWords(path_).size(), kLongestLastWords);
}

TEST_F(LastWordsTest, AFolderThatIsMissingIsTold) {
  const absl::Status written = WriteLastWords(LastWordsPath("/nonexistent", "n1/0/abcd"), "the GPU is lost");
  EXPECT_EQ(written.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(written.message()), testing::HasSubstr("/nonexistent"));
}

}  // namespace
}  // namespace rekindle::common
