// How much memory processes here may use: the machine's, or less where a control group (cgroup v1 or v2) says so.
#ifndef REKINDLE_COMMON_MEMORY_H_
#define REKINDLE_COMMON_MEMORY_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace rekindle::common {

struct Memory {
  double total = 0;      // Bytes: the machine's, or the least limit of the control groups around this process.
  double available = 0;  // What is free of it now; caches of files count as free.
};

// `root` stands before "/proc" and "/sys", for tests. INTERNAL: /proc/meminfo says nothing.
absl::StatusOr<Memory> ReadMemory(const std::string& root = "");

// How many processes of this one's control group the kernel has killed because memory ran out; nothing: it does not
// say.
std::optional<int64_t> OutOfMemoryKills(const std::string& root = "");

// A process that ends itself because it finds no memory has this exit code. The kernel did not kill it.
inline constexpr int kExitOutOfMemory = 5;

// "7.9 GB", "512 MB": in powers of ten.
std::string BytesText(double bytes);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_MEMORY_H_
