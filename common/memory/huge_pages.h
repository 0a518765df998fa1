// Allocates memory for large and long-lived data, in huge pages if the machine has them. Huge pages cause fewer TLB
// misses, and the memory of a dead process is freed 512 times as fast.
#ifndef REKINDLE_COMMON_MEMORY_HUGE_PAGES_H_
#define REKINDLE_COMMON_MEMORY_HUGE_PAGES_H_

#include <cstddef>
#include <string>

namespace rekindle::common {

// Huge pages are used for `kLargeBytes` and more. Below that size, the memory that alignment wastes would matter.
inline constexpr size_t kLargeBytes = size_t{4} << 20;

// Returns uninitialised memory with an alignment of at least 64 bytes, which the caller must free with std::free.
// Returns null if there is no memory. It is thread-safe.
void* AllocateLarge(size_t bytes);

// Makes all pages of a file in memory that is mapped whole, as huge ones where the machine has such for files. They are
// made through the mapping, because a file takes no advice: posix_fallocate() alone makes small ones. Returns 0, or the
// number of the error if there is no room. `memory` begins the mapping, which may be one that only reads.
int FillMappedFile(int file, void* memory, size_t bytes);

// Returns why this machine gives no huge pages, or an empty text if it does. `root` is put before "/sys", for tests.
std::string WhyNoHugePages(const std::string& root = "");

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_MEMORY_HUGE_PAGES_H_
