#include "worker/data/kinds/cache_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "common/testing/fault_file.h"
#include "common/testing/temporary_folder_testing.h"

namespace rekindle::data {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kFolder[] = "/cache";

// The input files are real. The cache is in a fake file system that fails on command.
class CacheFolderTest : public ::testing::Test {
 protected:
  CacheFolderTest() {
    std::ofstream(temporary_.path() + "/a.txt") << "hello ";
    std::ofstream(temporary_.path() + "/b.txt") << "world";
    EXPECT_TRUE(folder_.Create().ok());
  }
  std::vector<InputFile> Inputs() { return FindInputFiles({temporary_.path() + "/*.txt"}).value(); }

  common::TemporaryFolder temporary_;
  common::FaultFileSystem files_;
  CacheFolder folder_{files_, kFolder};
};

TEST_F(CacheFolderTest, ATokensFileHasAHeaderThatFitsItsBytes) {
  const auto built = folder_.Build(Inputs(), {}, 0);
  ASSERT_TRUE(built.ok()) << built.status();
  EXPECT_EQ(built->bytes, 11);
  EXPECT_TRUE(built->as_listed);
  const std::string content = files_.Get(folder_.TokensFile(built->fingerprint));
  ASSERT_EQ(content.size(), sizeof(CacheHeader) + 11);
  CacheHeader header;
  std::memcpy(&header, content.data(), sizeof(header));
  EXPECT_EQ(header.checksum, header.Checksum());
  EXPECT_EQ(header.length, 11u);
  EXPECT_EQ(std::string(header.fingerprint.begin(), header.fingerprint.end()), built->fingerprint);
  EXPECT_EQ(content.substr(sizeof(header)), "hello world");
}

TEST_F(CacheFolderTest, WhereverTheDiskIsFullTheErrorSaysWhatToDoAndNothingIsLeft) {
  int failures = 0;
  for (int at = 0;; ++at) {
    common::FaultFileSystem files;
    CacheFolder folder(files, kFolder);
    ASSERT_TRUE(folder.Create().ok());
    const size_t before = files.operations().size();
    files.FailAt(at, absl::ResourceExhaustedError("No space left on device"), /*for_ever=*/false);
    const auto built = folder.Build(Inputs(), {}, 0);
    const std::string operation = files.operations().size() > before + static_cast<size_t>(at)
                                      ? files.operations()[before + static_cast<size_t>(at)]
                                      : "";
    if (operation.empty()) break;
    // Building the cache need not fail if the operation that fails only finds or removes what an earlier build has left
    // behind.
    if (built.ok()) continue;
    ++failures;
    EXPECT_TRUE(absl::IsResourceExhausted(built.status())) << operation;
    EXPECT_THAT(std::string(built.status().message()), HasSubstr("token cache: No space left on device; "))
        << operation;
    EXPECT_THAT(files.Files(), IsEmpty()) << operation;
  }
  // Building the cache fails if the file cannot be created, if the header, an input or the header again cannot be
  // written, or if the file cannot be closed or renamed.
  EXPECT_EQ(failures, 7);
}

TEST_F(CacheFolderTest, AnIndexIsThereWholeOrNotAtAll) {
  const std::string name = CacheFolder::IndexName(Inputs(), 0);
  const std::string fingerprint(kFingerprintDigits, 'a');
  EXPECT_EQ(folder_.ReadIndex(name), "");
  files_.FailAt(1, absl::InternalError("Input/output error"), /*for_ever=*/false);
  EXPECT_TRUE(absl::IsFailedPrecondition(folder_.WriteIndex(name, fingerprint)));
  EXPECT_EQ(folder_.ReadIndex(name), "");
  ASSERT_TRUE(folder_.WriteIndex(name, fingerprint).ok());
  EXPECT_EQ(folder_.ReadIndex(name), fingerprint);
  files_.Put(std::string(kFolder) + "/" + name, fingerprint + "b");
  EXPECT_EQ(folder_.ReadIndex(name), "") << "it is too long";
}

}  // namespace
}  // namespace rekindle::data
