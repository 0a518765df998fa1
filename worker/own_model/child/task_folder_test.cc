#include "worker/own_model/child/task_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "common/testing/temporary_folder_testing.h"

namespace rekindle::own_model {
namespace {

using testing::HasSubstr;

TEST(TaskFolderTest, CodeLiesInTheFoldersThatTheOperatorLists) {
  const common::TemporaryFolder folder;
  const data::DataRoots roots({folder.path() + "/data"}, {});
  for (const char* made : {"/data/job", "/other"}) std::filesystem::create_directories(folder.path() + made);
  std::filesystem::create_directory_symlink(folder.path() + "/other", folder.path() + "/data/link");
  std::ofstream(folder.path() + "/data/file") << "x";
  EXPECT_TRUE(CheckTaskFolder(folder.path() + "/data/job", roots).ok());
  for (const char* name : {"/other", "/data/link", "/data/missing", "/data/file", "/data/job/../../other"}) {
    const absl::Status refused = CheckTaskFolder(folder.path() + name, roots);
    EXPECT_TRUE(absl::IsInvalidArgument(refused)) << name << ": " << refused;
    EXPECT_THAT(std::string(refused.message()), HasSubstr("model.folder"));
  }
  EXPECT_THAT(std::string(CheckTaskFolder(folder.path() + "/other", roots).message()), HasSubstr("--data-root"));
}

}  // namespace
}  // namespace rekindle::own_model
