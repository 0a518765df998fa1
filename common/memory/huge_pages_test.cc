#include "common/memory/huge_pages.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "common/testing/temporary_folder_testing.h"

namespace rekindle::common {
namespace {

// Returns how much of this process's memory is in huge pages, in kB.
long AnonymousHugePages() {
  std::ifstream file("/proc/self/smaps_rollup");
  long kilobytes = 0;
  for (std::string line; std::getline(file, line);) {
    if (sscanf(line.c_str(), "AnonHugePages: %ld", &kilobytes) == 1) return kilobytes;
  }
  return -1;
}

TEST(HugePages, WhatIsLargeLiesInThem) {
  constexpr size_t kBytes = size_t{64} << 20;
  if (!WhyNoHugePages().empty()) GTEST_SKIP() << WhyNoHugePages();
  const long before = AnonymousHugePages();
  if (before < 0) GTEST_SKIP() << "this kernel does not say which memory lies in huge pages";
  void* memory = AllocateLarge(kBytes);
  ASSERT_NE(memory, nullptr);
  std::memset(memory, 1, kBytes);
  EXPECT_GE(AnonymousHugePages() - before, static_cast<long>(kBytes >> 10) / 2);
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
