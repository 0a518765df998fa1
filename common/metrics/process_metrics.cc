#include "common/metrics/process_metrics.h"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace rekindle::common {
namespace {

std::string ReadAll(const char* path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// Returns the field with the number `number` of the stat file of proc(5). `after_name` holds the fields after the
// program's name, and the function works only for these fields.
std::optional<double> Field(const std::vector<absl::string_view>& after_name, size_t number) {
  constexpr size_t kFirstAfterName = 3;
  const size_t at = number - kFirstAfterName;
  double value = 0;
  if (at >= after_name.size() || !absl::SimpleAtod(after_name[at], &value)) return std::nullopt;
  return value;
}

// Returns the time at which the machine was booted, in Unix seconds.
std::optional<double> BootTime() {
  std::ifstream stat("/proc/stat");
  for (std::string line; std::getline(stat, line);) {
    double value = 0;
    if (line.rfind("btime ", 0) == 0 && absl::SimpleAtod(line.substr(6), &value)) return value;
  }
  return std::nullopt;
}

std::optional<double> OpenDescriptors() {
  DIR* folder = opendir("/proc/self/fd");
  if (folder == nullptr) return std::nullopt;
  int count = 0;
  while (const dirent* entry = readdir(folder)) count += entry->d_name[0] != '.';
  closedir(folder);
  // The descriptor with which this function reads /proc/self/fd is in that folder, too, and does not count.
  return count - 1;
}

}  // namespace

void AddProcessMetrics(MetricSamples& samples) {
  constexpr size_t kUserTicks = 14, kSystemTicks = 15, kStartTicks = 22, kVirtualBytes = 23, kResidentPages = 24;
  const std::string stat = ReadAll("/proc/self/stat");
  // The program's name in /proc/self/stat may contain any character, so only the last parenthesis ends it.
  const size_t name_end = stat.rfind(')');
  std::vector<absl::string_view> fields;
  if (name_end != std::string::npos && name_end + 2 < stat.size()) {
    fields = absl::StrSplit(absl::string_view(stat).substr(name_end + 2), absl::ByAnyChar(" \n"), absl::SkipEmpty());
  }
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  if (const auto user = Field(fields, kUserTicks), system = Field(fields, kSystemTicks); user && system) {
    samples.Counter("process_cpu_seconds_total", "Total user and system CPU time spent in seconds.",
                    (*user + *system) / ticks);
  }
  if (const auto bytes = Field(fields, kVirtualBytes)) {
    samples.Gauge("process_virtual_memory_bytes", "Virtual memory size in bytes.", *bytes);
  }
  if (const auto pages = Field(fields, kResidentPages)) {
    samples.Gauge("process_resident_memory_bytes", "Resident memory size in bytes.",
                  *pages * static_cast<double>(sysconf(_SC_PAGESIZE)));
  }
  if (const auto start = Field(fields, kStartTicks), boot = BootTime(); start && boot) {
    samples.Gauge("process_start_time_seconds", "Start time of the process since unix epoch in seconds.",
                  *boot + *start / ticks);
  }
  if (const auto open = OpenDescriptors()) {
    samples.Gauge("process_open_fds", "Number of open file descriptors.", *open);
  }
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    samples.Gauge("process_max_fds", "Maximum number of open file descriptors.", static_cast<double>(limit.rlim_cur));
  }
}

}  // namespace rekindle::common
