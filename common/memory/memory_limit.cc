#include "common/memory/memory_limit.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"

namespace rekindle::common {
namespace {

constexpr double kKibibyte = 1024;
// cgroup v1 reports a number above `kUnlimited` if there is no limit.
constexpr double kUnlimited = 1e18;

std::string ReadText(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Returns the number after the word `name` at the start of a line of `text`, or nothing if `text` has no such line.
std::optional<double> Field(const std::string& text, const std::string& name) {
  for (const std::string& line : std::vector<std::string>(absl::StrSplit(text, '\n'))) {
    const std::vector<std::string> words = absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    double value = 0;
    if (words.size() >= 2 && words[0] == name && absl::SimpleAtod(words[1], &value)) return value;
  }
  return std::nullopt;
}

std::optional<double> Number(const std::string& path) {
  double value = 0;
  // If a control group has no limit, its file contains "max" or does not exist.
  if (!absl::SimpleAtod(ReadText(path), &value) || value >= kUnlimited) return std::nullopt;
  return value;
}

// Holds the names that cgroup v1 and cgroup v2 give to the same files and fields.
struct Names {
  const char* mount;
  const char* limit;
  const char* usage;
  const char* kills;
  const char* cache_prefix;
};
constexpr Names kVersion1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                             "memory.oom_control", "total_"};
constexpr Names kVersion2 = {"/sys/fs/cgroup", "memory.max", "memory.current", "memory.events", ""};

struct Group {
  const Names* names = nullptr;
  // `folders` has the folder of the control group first, and then the folders of the groups around it.
  std::vector<std::string> folders;
};

// Returns the control group of this process. In a container the group's path may be the host's path and not exist
// there. In that case only folders above it exist.
Group OwnGroup(const std::string& root) {
  Group group;
  std::string path;
  for (const std::string& line : std::vector<std::string>(absl::StrSplit(ReadText(root + "/proc/self/cgroup"), '\n'))) {
    const std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (parts.size() != 3) continue;
    const std::vector<std::string> controllers = absl::StrSplit(parts[1], ',');
    const bool version1 = std::find(controllers.begin(), controllers.end(), "memory") != controllers.end();
    if (!version1 && (!parts[1].empty() || group.names != nullptr)) continue;
    group.names = version1 ? &kVersion1 : &kVersion2;
    path = parts[2];
  }
  if (group.names == nullptr) return group;
  while (!path.empty() && path != "/") {
    group.folders.push_back(absl::StrCat(root, group.names->mount, path));
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
  group.folders.push_back(absl::StrCat(root, group.names->mount));
  return group;
}

void Restrict(const Names& names, const std::string& folder, Memory* memory) {
  const std::optional<double> limit = Number(absl::StrCat(folder, "/", names.limit));
  if (!limit) return;
  memory->total = std::min(memory->total, *limit);
  const std::optional<double> usage = Number(absl::StrCat(folder, "/", names.usage));
  if (!usage) return;
  const std::string stat = ReadText(folder + "/memory.stat");
  const double cache = Field(stat, absl::StrCat(names.cache_prefix, "active_file")).value_or(0) +
                       Field(stat, absl::StrCat(names.cache_prefix, "inactive_file")).value_or(0);
  memory->available = std::min(memory->available, std::max(0.0, *limit - std::max(0.0, *usage - cache)));
}

}  // namespace

absl::StatusOr<Memory> ReadMemory(const std::string& root) {
  const std::string text = ReadText(root + "/proc/meminfo");
  const std::optional<double> total = Field(text, "MemTotal:");
  const std::optional<double> available = Field(text, "MemAvailable:");
  if (!total || !available) return absl::InternalError("/proc/meminfo does not say how much memory there is");
  Memory memory{*total * kKibibyte, *available * kKibibyte};
  const Group group = OwnGroup(root);
  for (const std::string& folder : group.folders) Restrict(*group.names, folder, &memory);
  return memory;
}

std::optional<int64_t> OutOfMemoryKills(const std::string& root) {
  const Group group = OwnGroup(root);
  for (const std::string& folder : group.folders) {
    const auto kills = Field(ReadText(absl::StrCat(folder, "/", group.names->kills)), "oom_kill");
    if (kills) return static_cast<int64_t>(*kills);
  }
  return std::nullopt;
}

std::string BytesText(double bytes) {
  constexpr double kGiga = 1e9, kMega = 1e6;
  return bytes >= kGiga ? absl::StrFormat("%.1f GB", bytes / kGiga) : absl::StrFormat("%.0f MB", bytes / kMega);
}

}  // namespace rekindle::common
