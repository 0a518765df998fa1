#include "coordinator/logs/log_folder.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "common/files/file.h"

namespace rekindle::coordinator {
namespace {

constexpr char kSuffix[] = ".log";
constexpr size_t kDigits = 12;

// Returns the number of the file with that name, or 0 if PathOf has not made the name.
int64_t NumberOf(const std::string& name) {
  if (name.size() != kDigits + sizeof(kSuffix) - 1 || !absl::EndsWith(name, kSuffix)) return 0;
  const std::string digits = name.substr(0, kDigits);
  int64_t number = 0;
  const bool all = std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  return all && absl::SimpleAtoi(digits, &number) ? number : 0;
}

std::vector<std::string> NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  DIR* const open = opendir(folder.c_str());
  if (open == nullptr) return names;
  while (const dirent* entry = readdir(open)) names.emplace_back(entry->d_name);
  closedir(open);
  return names;
}

}  // namespace

std::string LogFolder::PathOf(int64_t file) const { return absl::StrFormat("%s/%012d%s", path_, file, kSuffix); }

LogFolder::Listed LogFolder::List() const {
  Listed listed;
  for (const std::string& name : NamesIn(path_)) {
    const int64_t number = NumberOf(name);
    struct stat facts = {};
    if (number == 0 || lstat(PathOf(number).c_str(), &facts) != 0) continue;
    listed.next_file = std::max(listed.next_file, number + 1);
    if (!S_ISREG(facts.st_mode) || facts.st_size == 0) continue;
    listed.files[number] = {.bytes = facts.st_size, .at = static_cast<double>(facts.st_mtim.tv_sec)};
  }
  return listed;
}

absl::Status LogFolder::Make() const {
  if (mkdir(path_.c_str(), 0700) == 0 || errno == EEXIST) return absl::OkStatus();
  return common::ErrnoStatus(errno, "cannot make", path_);
}

absl::Status LogFolder::Remove(int64_t file) const {
  const std::string path = PathOf(file);
  if (unlink(path.c_str()) == 0 || errno == ENOENT) return absl::OkStatus();
  return common::ErrnoStatus(errno, "cannot remove", path);
}

absl::Status LogFolder::RemoveAll() const {
  absl::Status status;
  for (const std::string& name : NamesIn(path_)) {
    if (const int64_t number = NumberOf(name); number != 0) status.Update(Remove(number));
  }
  if (rmdir(path_.c_str()) != 0 && errno != ENOENT) status.Update(common::ErrnoStatus(errno, "cannot remove", path_));
  return status;
}

}  // namespace rekindle::coordinator
