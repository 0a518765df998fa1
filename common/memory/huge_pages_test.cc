#include "common/memory/huge_pages.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "common/files/unique_fd.h"
#include "common/testing/temporary_folder_testing.h"

namespace rekindle::common {
namespace {

// Returns how much of this process's memory is in huge pages of the given kind, in kB.
long HugePages(const std::string& kind) {
  std::ifstream file("/proc/self/smaps_rollup");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(kind + ":")) return std::atol(line.c_str() + kind.size() + 1);
  }
  return -1;
}

// Holds a file in memory that is mapped for reading.
struct MappedFile {
  explicit MappedFile(size_t size) : bytes(size) {
    EXPECT_EQ(ftruncate(file.get(), static_cast<off_t>(bytes)), 0);
    memory = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file.get(), 0);
    EXPECT_NE(memory, MAP_FAILED);
  }
  ~MappedFile() { munmap(memory, bytes); }

  const size_t bytes;
  const UniqueFd file{memfd_create("test", MFD_CLOEXEC)};
  void* memory = nullptr;
};

TEST(HugePages, WhatIsLargeLiesInThem) {
  constexpr size_t kBytes = size_t{64} << 20;
  if (!WhyNoHugePages().empty()) GTEST_SKIP() << WhyNoHugePages();
  const long before = HugePages("AnonHugePages");
  if (before < 0) GTEST_SKIP() << "this kernel does not say which memory lies in huge pages";
  void* memory = AllocateLarge(kBytes);
  ASSERT_NE(memory, nullptr);
  std::memset(memory, 1, kBytes);
  EXPECT_GE(HugePages("AnonHugePages") - before, static_cast<long>(kBytes >> 10) / 2);
  std::free(memory);
}

TEST(HugePages, AnySizeIsAligned) {
  for (const size_t bytes : {size_t{1}, size_t{1000}, kLargeBytes - 1, kLargeBytes, kLargeBytes + 12345}) {
    void* memory = AllocateLarge(bytes);
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 64, 0u);
    std::memset(memory, 1, bytes);
    std::free(memory);
  }
}

TEST(HugePages, AMappedFileGetsAllItsPages) {
  for (const size_t bytes : {size_t{1}, size_t{5000}, kLargeBytes, kLargeBytes + 12345}) {
    const MappedFile mapped(bytes);
    struct stat facts = {};
    ASSERT_EQ(fstat(mapped.file.get(), &facts), 0);
    EXPECT_EQ(facts.st_blocks, 0);
    ASSERT_EQ(FillMappedFile(mapped.file.get(), mapped.memory, bytes), 0);
    ASSERT_EQ(fstat(mapped.file.get(), &facts), 0);
    constexpr size_t kBlock = 512;
    EXPECT_GE(static_cast<size_t>(facts.st_blocks) * kBlock, bytes);
    EXPECT_EQ(static_cast<const char*>(mapped.memory)[bytes - 1], 0);
  }
}

TEST(HugePages, AMappedFileThatIsLargeLiesInThemWhereFilesGetThem) {
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/shmem_enabled");
  std::string line;
  std::getline(file, line);
  const bool has_them = line.find("[advise]") != std::string::npos || line.find("[always]") != std::string::npos;
  if (!has_them) GTEST_SKIP() << "files in memory get no huge pages here: " << line;
  constexpr size_t kBytes = size_t{64} << 20;
  const long before = HugePages("ShmemPmdMapped");
  const MappedFile mapped(kBytes);
  ASSERT_EQ(FillMappedFile(mapped.file.get(), mapped.memory, kBytes), 0);
  EXPECT_GE(HugePages("ShmemPmdMapped") - before, static_cast<long>(kBytes >> 10) / 2);
}

TEST(HugePages, SaysWhyThereAreNone) {
  const TemporaryFolder temporary;
  const std::string& root = temporary.path();
  EXPECT_NE(WhyNoHugePages(root), "");
  std::filesystem::create_directories(root + "/sys/kernel/mm/transparent_hugepage");
  const std::string path = root + "/sys/kernel/mm/transparent_hugepage/enabled";
  std::ofstream(path) << "always madvise [never]\n";
  EXPECT_NE(WhyNoHugePages(root).find(" off"), std::string::npos);
  std::ofstream(path) << "always [madvise] never\n";
  EXPECT_EQ(WhyNoHugePages(root), "");
}

}  // namespace
}  // namespace rekindle::common
