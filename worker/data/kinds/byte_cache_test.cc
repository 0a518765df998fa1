#include "worker/data/kinds/byte_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "common/testing/temporary_folder_testing.h"

namespace rekindle::data {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class ByteCacheTest : public ::testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) { std::ofstream(root_ + "/" + name) << text; }

  std::vector<InputFile> Files() {
    auto files = FindInputFiles({root_ + "/*.txt"});
    EXPECT_TRUE(files.ok()) << files.status();
    return *files;
  }
  ByteCache Open(int64_t max_bytes = 0) {
    auto cache = ByteCache::Open(Files(), max_bytes, folder_);
    EXPECT_TRUE(cache.ok()) << cache.status();
    return std::move(*cache);
  }
  static std::string Text(const ByteCache& cache) { return {cache.bytes().begin(), cache.bytes().end()}; }
  std::string CacheFile(const ByteCache& cache) { return folder_ + "/tokens-" + cache.fingerprint(); }
  int Entries(const std::string& prefix) {
    int count = 0;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      count += entry.path().filename().string().starts_with(prefix);
    }
    return count;
  }

  common::TemporaryFolder temporary_;
  const std::string root_ = temporary_.path();
  const std::string folder_ = root_ + "/cache";
};

TEST_F(ByteCacheTest, HoldsTheFilesInOrder) {
  Write("b.txt", "world");
  Write("a.txt", "hello ");
  ByteCache first = Open();
  EXPECT_EQ(Text(first), "hello world");
  EXPECT_FALSE(first.found());
  ByteCache second = Open();
  EXPECT_TRUE(second.found());
  EXPECT_EQ(Text(second), "hello world");
  EXPECT_EQ(second.fingerprint(), first.fingerprint());
  EXPECT_EQ(Entries("tokens.tmp-"), 0);
}

TEST_F(ByteCacheTest, IsKeyedByContentNotByName) {
  Write("a.txt", "same");
  ByteCache first = Open();
  fs::rename(root_ + "/a.txt", root_ + "/b.txt");
  ByteCache second = Open();
  EXPECT_FALSE(second.found());
  EXPECT_EQ(second.fingerprint(), first.fingerprint());
  EXPECT_EQ(Entries("tokens-"), 1);
  Write("b.txt", "else");
  ByteCache third = Open();
  EXPECT_EQ(Text(third), "else");
  EXPECT_EQ(Text(first), "same");
}

TEST_F(ByteCacheTest, MaxBytesCutsAcrossFiles) {
  Write("a.txt", "hello ");
  Write("b.txt", "world");
  EXPECT_EQ(Text(Open(8)), "hello wo");
  EXPECT_EQ(Text(Open(6)), "hello ");
  EXPECT_EQ(Text(Open(100)), "hello world");
  EXPECT_TRUE(Open(8).found());
}

TEST_F(ByteCacheTest, EveryFlippedByteAndEveryTruncationIsRebuilt) {
  Write("a.txt", "some text to keep");
  std::string path = CacheFile(Open());
  std::string good(fs::file_size(path), '\0');
  std::ifstream(path).read(good.data(), static_cast<std::streamsize>(good.size()));
  for (size_t i = 0; i < good.size(); ++i) {
    for (bool cut : {false, true}) {
      std::string bad = cut ? good.substr(0, i) : good;
      if (!cut) bad[i] ^= 1;
      fs::remove(path);
      std::ofstream(path) << bad;
      ByteCache cache = Open();
      EXPECT_FALSE(cache.found()) << "byte " << i << (cut ? " cut" : " flipped");
      EXPECT_EQ(Text(cache), "some text to keep");
    }
  }
  EXPECT_TRUE(Open().found());
}

TEST_F(ByteCacheTest, ADamagedIndexIsNotTrusted) {
  Write("a.txt", "text");
  Open();
  for (const auto& entry : fs::directory_iterator(folder_)) {
    if (entry.path().filename().string().starts_with("index-")) std::ofstream(entry.path()) << "../../../etc/passwd";
  }
  ByteCache cache = Open();
  EXPECT_FALSE(cache.found());
  EXPECT_EQ(Text(cache), "text");
}

TEST_F(ByteCacheTest, ConcurrentCreatorsAgree) {
  Write("a.txt", std::string(300000, 'x'));
  std::vector<InputFile> files = Files();
  std::vector<std::thread> threads;
  std::vector<std::string> seen(8);
  for (std::string& fingerprint : seen) {
    threads.emplace_back([&] {
      auto cache = ByteCache::Open(files, 0, folder_);
      if (cache.ok() && cache->bytes().size() == 300000) fingerprint = cache->fingerprint();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& fingerprint : seen) EXPECT_EQ(fingerprint, Open().fingerprint());
  EXPECT_EQ(Entries("tokens-"), 1);
  EXPECT_EQ(Entries("tokens.tmp-"), 0);
}

TEST_F(ByteCacheTest, AFileChangedSinceItWasFoundIsNotIndexed) {
  Write("a.txt", "old");
  std::vector<InputFile> files = Files();
  Write("a.txt", "newer");
  auto cache = ByteCache::Open(files, 0, folder_);
  ASSERT_TRUE(cache.ok());
  EXPECT_EQ(Text(*cache), "newer");
  EXPECT_EQ(Entries("index-"), 0);
}

TEST_F(ByteCacheTest, AbandonedFilesAreRemoved) {
  Write("a.txt", "text");
  fs::create_directories(folder_);
  for (const char* name : {"/tokens.tmp-old", "/tmp-old", "/tokens.tmp-new"}) {
    std::ofstream(folder_ + name) << "x";
    if (std::string(name).ends_with("new")) continue;
    fs::last_write_time(folder_ + name, fs::file_time_type::clock::now() - std::chrono::hours(2));
  }
  Open();
  EXPECT_FALSE(fs::exists(folder_ + "/tokens.tmp-old"));
  EXPECT_FALSE(fs::exists(folder_ + "/tmp-old")) << "an earlier release left it";
  EXPECT_TRUE(fs::exists(folder_ + "/tokens.tmp-new"));
}

TEST_F(ByteCacheTest, ErrorsNameTheFileOrTheFolder) {
  Write("a.txt", "text");
  std::vector<InputFile> files = Files();
  fs::remove(root_ + "/a.txt");
  absl::Status missing = ByteCache::Open(files, 0, folder_).status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(missing.message()), HasSubstr(root_ + "/a.txt"));
  EXPECT_EQ(Entries("tokens"), 0);

  Write("a.txt", "text");
  absl::Status blocked = ByteCache::Open(Files(), 0, root_ + "/a.txt/sub").status();
  EXPECT_FALSE(blocked.ok());
  EXPECT_THAT(std::string(blocked.message()), HasSubstr("token cache: cannot create folder"));

  fs::resize_file(root_ + "/a.txt", 0);
  EXPECT_EQ(ByteCache::Open({{root_ + "/a.txt"}}, 0, folder_).status().code(), absl::StatusCode::kInvalidArgument);
}

// The test runs in a child process with a mount namespace of its own, so that a file system of 64 KiB can be full.
TEST_F(ByteCacheTest, AFullDiskIsAClearErrorAndLeavesNothing) {
  Write("a.txt", std::string(1 << 20, 'x'));
  std::vector<InputFile> files = Files();
  fs::create_directories(folder_);
  constexpr int kNotPermitted = 77;
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("tmpfs", folder_.c_str(), "tmpfs", 0, "size=64k") != 0) {
      _exit(kNotPermitted);
    }
    absl::Status status = ByteCache::Open(files, 0, folder_).status();
    bool clear = status.code() == absl::StatusCode::kResourceExhausted && Entries("") == 0 &&
                 std::string(status.message()).find("No space left on device; free some space") != std::string::npos;
    _exit(clear ? 0 : 1);
  }
  int result = 0;
  ASSERT_EQ(waitpid(child, &result, 0), child);
  if (WEXITSTATUS(result) == kNotPermitted) GTEST_SKIP() << "may not mount a small file system";
  EXPECT_EQ(result, 0);
}

}  // namespace
}  // namespace rekindle::data
