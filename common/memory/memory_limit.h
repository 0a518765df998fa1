// Measures how much memory processes on this machine may use. A control group (cgroup v1 or v2) may limit it to less
// than the machine has.
#ifndef REKINDLE_COMMON_MEMORY_MEMORY_LIMIT_H_
#define REKINDLE_COMMON_MEMORY_MEMORY_LIMIT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace rekindle::common {

struct Memory {
  // `total` is the machine's memory or the lowest limit of the control groups around this process, in bytes.
  double total = 0;
  // `available` is the part of `total` that is free now, in bytes. Caches of files count as free.
  double available = 0;
};

// Measures the memory. `root` is put before "/proc" and "/sys", for tests. Returns INTERNAL if /proc/meminfo lacks a
// value.
absl::StatusOr<Memory> ReadMemory(const std::string& root = "");

// Returns how many processes of this control group the kernel has killed because memory ran out, or nothing if the
// kernel does not report it.
std::optional<int64_t> OutOfMemoryKills(const std::string& root = "");

// Returns a text like "7.9 GB" or "512 MB", in powers of ten.
std::string BytesText(double bytes);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_MEMORY_MEMORY_LIMIT_H_
