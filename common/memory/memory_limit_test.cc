#include "common/memory/memory_limit.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "common/testing/temporary_folder_testing.h"

namespace rekindle::common {
namespace {

// Measures memory from a made-up /proc and /sys.
class MemoryTest : public ::testing::Test {
 protected:
  MemoryTest() {
    Write("/proc/meminfo", "MemTotal:       8000000 kB\nMemFree:         100000 kB\nMemAvailable:   4000000 kB\n");
  }

  void Write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }

  TemporaryFolder temporary_;
  const std::string root_ = temporary_.path();
};

TEST_F(MemoryTest, IsTheMachinesWithoutControlGroups) {
  const auto memory = ReadMemory(root_);
  ASSERT_TRUE(memory.ok()) << memory.status();
  EXPECT_EQ(memory->total, 8000000 * 1024.0);
  EXPECT_EQ(memory->available, 4000000 * 1024.0);
  EXPECT_FALSE(OutOfMemoryKills(root_));
}

TEST_F(MemoryTest, IsTheLeastLimitOfTheGroupsAround) {
  Write("/proc/self/cgroup", "0::/pods/one/trainer\n");
  Write("/sys/fs/cgroup/pods/one/trainer/memory.max", "max\n");
  Write("/sys/fs/cgroup/pods/one/trainer/memory.events", "low 0\nhigh 0\noom 3\noom_kill 2\n");
  Write("/sys/fs/cgroup/pods/one/memory.max", "1000000000\n");
  Write("/sys/fs/cgroup/pods/one/memory.current", "700000000\n");
  Write("/sys/fs/cgroup/pods/one/memory.stat", "anon 5\nactive_file 100000000\ninactive_file 200000000\n");
  Write("/sys/fs/cgroup/pods/memory.max", "3000000000\n");
  const auto memory = ReadMemory(root_);
  ASSERT_TRUE(memory.ok()) << memory.status();
  EXPECT_EQ(memory->total, 1e9);
  // Caches of files can be freed, so they count as available memory.
  EXPECT_EQ(memory->available, 6e8);
  EXPECT_EQ(OutOfMemoryKills(root_), 2);
}

TEST_F(MemoryTest, ReadsVersionOneAndAPathThatOnlyTheHostHas) {
  Write("/proc/self/cgroup", "5:cpu,cpuacct:/x\n4:memory:/docker/0123\n0::/system.slice\n");
  Write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "2000000000\n");
  Write("/sys/fs/cgroup/memory/memory.usage_in_bytes", "1500000000\n");
  Write("/sys/fs/cgroup/memory/memory.stat", "total_active_file 0\ntotal_inactive_file 500000000\n");
  Write("/sys/fs/cgroup/memory/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 7\n");
  const auto memory = ReadMemory(root_);
  ASSERT_TRUE(memory.ok()) << memory.status();
  EXPECT_EQ(memory->total, 2e9);
  EXPECT_EQ(memory->available, 1e9);
  EXPECT_EQ(OutOfMemoryKills(root_), 7);
}

TEST_F(MemoryTest, TakesAHugeLimitForNone) {
  Write("/proc/self/cgroup", "4:memory:/\n");
  Write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  const auto memory = ReadMemory(root_);
  ASSERT_TRUE(memory.ok()) << memory.status();
  EXPECT_EQ(memory->total, 8000000 * 1024.0);
}

TEST_F(MemoryTest, SaysWhenTheMachineDoesNot) { EXPECT_FALSE(ReadMemory(root_ + "/nowhere").ok()); }

TEST(Memory, ReadsThisMachine) {
  const auto memory = ReadMemory();
  ASSERT_TRUE(memory.ok()) << memory.status();
  EXPECT_GT(memory->total, 1e8);
  EXPECT_GT(memory->available, 0);
  EXPECT_LE(memory->available, memory->total);
}

TEST(BytesText, IsShort) {
  EXPECT_EQ(BytesText(7.94e9), "7.9 GB");
  EXPECT_EQ(BytesText(512e6), "512 MB");
}

}  // namespace
}  // namespace rekindle::common
