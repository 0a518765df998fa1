#include "worker/device/host/shared_memories.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace rekindle::device {
namespace {

constexpr size_t kBytes = 8192;

TEST(SharedMemories, WhoGetsTheFileReadsItAndChangesNothing) {
  SharedMemories memories;
  const auto memory = memories.Make(kBytes, "a test");
  ASSERT_TRUE(memory.ok()) << memory.status();
  std::memset(*memory, 7, kBytes);
  const auto part = memories.Find(static_cast<const std::byte*>(*memory) + 100);
  ASSERT_TRUE(part.has_value());
  EXPECT_EQ(part->offset, 100u);
  // A process that has the descriptor can open the file again by its name in /proc.
  const common::UniqueFd again(open(absl::StrCat("/proc/self/fd/", part->descriptor).c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_TRUE(again.valid());
  for (const int file : {part->descriptor, again.get()}) {
    char byte = 1;
    EXPECT_EQ(pread(file, &byte, 1, 0), 1);
    EXPECT_EQ(byte, 7);
    EXPECT_LT(pwrite(file, "x", 1, 0), 0);
    EXPECT_NE(ftruncate(file, 0), 0);
    EXPECT_NE(ftruncate(file, 2 * kBytes), 0);
    EXPECT_NE(fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, kBytes), 0);
    EXPECT_NE(fcntl(file, F_ADD_SEALS, F_SEAL_WRITE), 0) << "no seal can be added";
    EXPECT_NE(fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK), 0);
    EXPECT_EQ(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), MAP_FAILED);
    void* const readable = mmap(nullptr, kBytes, PROT_READ, MAP_SHARED, file, 0);
    ASSERT_NE(readable, MAP_FAILED);
    EXPECT_NE(mprotect(readable, kBytes, PROT_READ | PROT_WRITE), 0);
    EXPECT_EQ(munmap(readable, kBytes), 0);
  }
  EXPECT_EQ(static_cast<const char*>(*memory)[0], 7);
  memories.End(*memory);
  EXPECT_FALSE(memories.Find(*memory).has_value());
}

}  // namespace
}  // namespace rekindle::device
