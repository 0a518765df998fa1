#include "common/memory/huge_pages.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <cstdlib>
#include <fstream>

namespace rekindle::common {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kHugePage = size_t{2} << 20;
// This is MADV_POPULATE_READ, which Linux has since 5.14. Older headers do not name it.
constexpr int kPopulateRead = 22;

}  // namespace

void* AllocateLarge(size_t bytes) {
  const bool is_large = bytes >= kLargeBytes;
  const size_t alignment = is_large ? kHugePage : kAlignment;
  void* memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  // MADV_HUGEPAGE is only a request. If it is not granted, the memory is just as usable. The part beyond the last whole
  // huge page stays in small pages.
  if (is_large && memory != nullptr) madvise(memory, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
  return memory;
}

int FillMappedFile(int file, void* memory, size_t bytes) {
  if (bytes >= kLargeBytes) {
    // Where the kernel is too old for one of these requests, or grants only a part, the last call makes what is
    // missing.
    (void)madvise(memory, bytes, MADV_HUGEPAGE);
    (void)madvise(memory, bytes, kPopulateRead);
  }
  return posix_fallocate(file, 0, static_cast<off_t>(bytes));
}

std::string WhyNoHugePages(const std::string& root) {
  std::ifstream file(root + "/sys/kernel/mm/transparent_hugepage/enabled");
  std::string line;
  if (!std::getline(file, line)) return "this kernel has no transparent huge pages";
  if (line.find("[never]") == std::string::npos) return "";
  return "transparent huge pages are off: write madvise to /sys/kernel/mm/transparent_hugepage/enabled";
}

}  // namespace rekindle::common
