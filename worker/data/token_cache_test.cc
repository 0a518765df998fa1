#include "worker/data/token_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

namespace rekindle::data {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class TokenCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::path(::testing::TempDir()) / "token_cache_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
    folder_ = root_ + "/cache";
  }
  void TearDown() override { fs::remove_all(root_); }

  void Write(const std::string& name, const std::string& text) { std::ofstream(root_ + "/" + name) << text; }

  std::vector<TextFile> Files() {
    auto files = FindTextFiles({root_ + "/*.txt"});
    EXPECT_TRUE(files.ok()) << files.status();
    return *files;
  }
  TokenCache Open(int64_t max_bytes = 0) {
    auto cache = TokenCache::Open(Files(), max_bytes, folder_);
    EXPECT_TRUE(cache.ok()) << cache.status();
    return std::move(*cache);
  }
  static std::string Text(const TokenCache& cache) { return {cache.tokens().begin(), cache.tokens().end()}; }
  std::string CacheFile(const TokenCache& cache) { return folder_ + "/tokens-" + cache.fingerprint(); }
  int Entries(const std::string& prefix) {
    int count = 0;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      count += entry.path().filename().string().starts_with(prefix);
    }
    return count;
  }

  std::string root_, folder_;
};

TEST_F(TokenCacheTest, HoldsTheFilesInOrder) {
  Write("b.txt", "world");
  Write("a.txt", "hello ");
  TokenCache first = Open();
  EXPECT_EQ(Text(first), "hello world");
  EXPECT_FALSE(first.found());
  TokenCache second = Open();
  EXPECT_TRUE(second.found());
  EXPECT_EQ(Text(second), "hello world");
  EXPECT_EQ(second.fingerprint(), first.fingerprint());
  EXPECT_EQ(Entries("tmp-"), 0);
}

TEST_F(TokenCacheTest, IsKeyedByContentNotByName) {
  Write("a.txt", "same");
  TokenCache first = Open();
  fs::rename(root_ + "/a.txt", root_ + "/b.txt");
  TokenCache second = Open();
  EXPECT_FALSE(second.found());
  EXPECT_EQ(second.fingerprint(), first.fingerprint());
  EXPECT_EQ(Entries("tokens-"), 1);
  Write("b.txt", "else");
  TokenCache third = Open();
  EXPECT_EQ(Text(third), "else");
  EXPECT_EQ(Text(first), "same");
}

TEST_F(TokenCacheTest, MaxBytesCutsAcrossFiles) {
  Write("a.txt", "hello ");
  Write("b.txt", "world");
  EXPECT_EQ(Text(Open(8)), "hello wo");
  EXPECT_EQ(Text(Open(6)), "hello ");
  EXPECT_EQ(Text(Open(100)), "hello world");
  EXPECT_TRUE(Open(8).found());
}

TEST_F(TokenCacheTest, EveryFlippedByteAndEveryTruncationIsRebuilt) {
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
      TokenCache cache = Open();
      EXPECT_FALSE(cache.found()) << "byte " << i << (cut ? " cut" : " flipped");
      EXPECT_EQ(Text(cache), "some text to keep");
    }
  }
  EXPECT_TRUE(Open().found());
}

TEST_F(TokenCacheTest, ADamagedIndexIsNotTrusted) {
  Write("a.txt", "text");
  Open();
  for (const auto& entry : fs::directory_iterator(folder_)) {
    if (entry.path().filename().string().starts_with("index-")) std::ofstream(entry.path()) << "../../../etc/passwd";
  }
  TokenCache cache = Open();
  EXPECT_FALSE(cache.found());
  EXPECT_EQ(Text(cache), "text");
}

TEST_F(TokenCacheTest, ConcurrentCreatorsAgree) {
  Write("a.txt", std::string(300000, 'x'));
  std::vector<TextFile> files = Files();
  std::vector<std::thread> threads;
  std::vector<std::string> seen(8);
  for (std::string& fingerprint : seen) {
    threads.emplace_back([&] {
      auto cache = TokenCache::Open(files, 0, folder_);
      if (cache.ok() && cache->tokens().size() == 300000) fingerprint = cache->fingerprint();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& fingerprint : seen) EXPECT_EQ(fingerprint, Open().fingerprint());
  EXPECT_EQ(Entries("tokens-"), 1);
  EXPECT_EQ(Entries("tmp-"), 0);
}

TEST_F(TokenCacheTest, AFileChangedSinceItWasFoundIsNotIndexed) {
  Write("a.txt", "old");
  std::vector<TextFile> files = Files();
  Write("a.txt", "newer");
  auto cache = TokenCache::Open(files, 0, folder_);
  ASSERT_TRUE(cache.ok());
  EXPECT_EQ(Text(*cache), "newer");
  EXPECT_EQ(Entries("index-"), 0);
}

TEST_F(TokenCacheTest, AbandonedFilesAreRemoved) {
  Write("a.txt", "text");
  fs::create_directories(folder_);
  std::ofstream(folder_ + "/tmp-old") << "x";
  std::ofstream(folder_ + "/tmp-new") << "x";
  fs::last_write_time(folder_ + "/tmp-old", fs::file_time_type::clock::now() - std::chrono::hours(2));
  Open();
  EXPECT_FALSE(fs::exists(folder_ + "/tmp-old"));
  EXPECT_TRUE(fs::exists(folder_ + "/tmp-new"));
}

TEST_F(TokenCacheTest, ErrorsNameTheFileOrTheFolder) {
  Write("a.txt", "text");
  std::vector<TextFile> files = Files();
  fs::remove(root_ + "/a.txt");
  absl::Status missing = TokenCache::Open(files, 0, folder_).status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(missing.message()), HasSubstr(root_ + "/a.txt"));
  EXPECT_EQ(Entries("tmp-"), 0);

  Write("a.txt", "text");
  absl::Status blocked = TokenCache::Open(Files(), 0, root_ + "/a.txt/sub").status();
  EXPECT_FALSE(blocked.ok());
  EXPECT_THAT(std::string(blocked.message()), HasSubstr("cannot make the folder"));

  fs::resize_file(root_ + "/a.txt", 0);
  EXPECT_EQ(TokenCache::Open({{root_ + "/a.txt"}}, 0, folder_).status().code(), absl::StatusCode::kInvalidArgument);
}

// Runs in a child with a mount namespace of its own, so that a file system of 64 KiB can be full.
TEST_F(TokenCacheTest, AFullDiskIsAClearErrorAndLeavesNothing) {
  Write("a.txt", std::string(1 << 20, 'x'));
  std::vector<TextFile> files = Files();
  fs::create_directories(folder_);
  constexpr int kNotPermitted = 77;
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("tmpfs", folder_.c_str(), "tmpfs", 0, "size=64k") != 0) {
      _exit(kNotPermitted);
    }
    absl::Status status = TokenCache::Open(files, 0, folder_).status();
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
