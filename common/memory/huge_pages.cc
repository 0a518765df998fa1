#include "common/memory/huge_pages.h"

#include <sys/mman.h>

#include <cstdlib>
#include <fstream>

namespace rekindle::common {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kHugePage = size_t{2} << 20;

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

std::string WhyNoHugePages(const std::string& root) {
  std::ifstream file(root + "/sys/kernel/mm/transparent_hugepage/enabled");
  std::string line;
  if (!std::getline(file, line)) return "this kernel has no transparent huge pages";
  if (line.find("[never]") == std::string::npos) return "";
  return "transparent huge pages are off: write madvise to /sys/kernel/mm/transparent_hugepage/enabled";
}

}  // namespace rekindle::common
