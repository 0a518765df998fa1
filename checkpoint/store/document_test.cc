// Runs the reader of checkpoints from docs/checkpoints.md on a store that this program wrote.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "checkpoint/store/store.h"
#include "checkpoint/testing/planes_testing.h"
#include "common/files/file.h"
#include "common/testing/temporary_folder_testing.h"

namespace rekindle::checkpoint {
namespace {

constexpr int64_t kTotal = 3000;

std::string ReadText(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::vector<float> ReadFloats(const std::string& path) {
  const std::string bytes = ReadText(path);
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

class DocumentTest : public ::testing::Test {
 protected:
  // Runs the reader that docs/checkpoints.md contains. Returns false if python3 is not installed.
  bool RunReader() {
    const std::string document = ReadText(REKINDLE_DOCS "/checkpoints.md");
    const std::string fence = "```python\n";
    const size_t begin = document.find(fence) + fence.size();
    std::ofstream(folder_ + "/reader.py") << document.substr(begin, document.find("```", begin) - begin);
    const std::string command =
        "cd " + folder_ + " && python3 reader.py store/job . > printed; code=$?; cat printed; exit $code";
    const int code = ::system(command.c_str());
    if (WEXITSTATUS(code) == 127) return false;
    EXPECT_EQ(code, 0);
    EXPECT_EQ(ReadText(folder_ + "/printed"), "step 20 of 3000 elements, 2 tensors\n");
    return true;
  }

  void Save(const TestState& state, int step, Precision precision) {
    Store store(*common::PosixFileSystem(), folder_ + "/store");
    auto manifest = PutShards(store, "job", 9, step, state, 3, precision);
    ASSERT_TRUE(manifest.ok()) << manifest.status();
    manifest->tensors = {{"a", {100, 20}}, {"b", {1000}}};
    ASSERT_TRUE(store.PutManifest(*manifest).ok());
  }

  common::TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path();
};

TEST_F(DocumentTest, ItsReaderReadsEveryBit) {
  // The state has exceptions (planes.h), so that the reader has to apply them.
  const TestState state = Trained(kTotal, 4);
  Save(Trained(kTotal, 5), 3, Precision::kExact);
  Save(state, 20, Precision::kExact);
  if (!RunReader()) GTEST_SKIP() << "python3 is not installed";
  TestState read(kTotal);
  read.weights = ReadFloats(folder_ + "/weights");
  read.first_moment = ReadFloats(folder_ + "/first_moment");
  read.second_moment = ReadFloats(folder_ + "/second_moment");
  EXPECT_TRUE(read == state);
}

TEST_F(DocumentTest, ItsReaderReadsPlaneZeroAsWeDo) {
  const TestState state = Trained(kTotal, 4);
  for (Precision precision : {Precision::kFp16, Precision::kBf16}) {
    std::filesystem::remove_all(folder_ + "/store");
    Save(state, 20, precision);
    if (!RunReader()) GTEST_SKIP() << "python3 is not installed";
    TestState ours(kTotal);
    for (const ShardRange& range : SmallShards(kTotal, 3)) {
      ASSERT_TRUE(ReadPlanes(WriteFiles(state, range, precision).plane0, {}, ours.writable()).ok());
    }
    EXPECT_EQ(ReadFloats(folder_ + "/weights"), ours.weights);
    EXPECT_EQ(ReadFloats(folder_ + "/second_moment"), ours.second_moment);
  }
}

}  // namespace
}  // namespace rekindle::checkpoint
