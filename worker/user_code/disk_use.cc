#include "worker/user_code/disk_use.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/files/unique_fd.h"
#include "common/time/clock.h"

namespace rekindle::user_code {
namespace {

// The unit of `st_blocks` has 512 bytes on every file system.
constexpr int64_t kBytesOfABlock = 512;
constexpr int kDeepest = 64;

bool IsDots(const char* name) { return std::strcmp(name, ".") == 0 || std::strcmp(name, "..") == 0; }

std::string WithoutZeros(const std::string& digits) {
  return digits.substr(std::min(digits.find_first_not_of('0'), digits.size()));
}

// Opens a folder that was found at a depth. At depth 0 it is one that the agent names, and there a link is followed:
// some systems have one in place of /dev/shm or /var/tmp.
int OpenFolder(int parent, const char* name, int depth) {
  return openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK | (depth == 0 ? 0 : O_NOFOLLOW));
}

// Returns whether a user can enter a folder.
bool CanEnter(uid_t uid, const struct stat& facts) {
  const bool is_open = facts.st_uid == uid || facts.st_gid == uid || (facts.st_mode & S_IXOTH) != 0;
  return S_ISDIR(facts.st_mode) && is_open;
}

class Measurement {
 public:
  Measurement(uid_t uid, const DiskLimits& limits) : uid_(uid), limits_(limits) {}

  void Folder(int parent, const char* name, int depth) {
    const int descriptor = OpenFolder(parent, name, depth);
    DIR* const folder = descriptor < 0 ? nullptr : fdopendir(descriptor);
    if (folder == nullptr) {
      if (descriptor >= 0) close(descriptor);
      return;
    }
    while (const dirent* entry = readdir(folder)) {
      struct stat facts = {};
      if (IsDots(entry->d_name) || fstatat(descriptor, entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) != 0) continue;
      if (facts.st_uid == uid_) Count(facts);
      if (MayEnter(facts, depth + 1)) Folder(descriptor, entry->d_name, depth + 1);
      if (IsOver()) break;
    }
    closedir(folder);
  }

  // Counts the files without a name that processes of the user have open or mapped.
  void OpenFiles() {
    DIR* const processes = opendir("/proc");
    if (processes == nullptr) return;
    while (const dirent* process = readdir(processes)) {
      struct stat facts = {};
      if (process->d_name[0] < '0' || process->d_name[0] > '9') continue;
      if (fstatat(dirfd(processes), process->d_name, &facts, 0) != 0 || facts.st_uid != uid_) continue;
      OpenFilesOf(absl::StrCat("/proc/", process->d_name, "/fd"));
      MappedFilesOf(absl::StrCat("/proc/", process->d_name));
    }
    closedir(processes);
  }

  const DiskUse& use() const { return use_; }

 private:
  void OpenFilesOf(const std::string& path) {
    DIR* const descriptors = opendir(path.c_str());
    if (descriptors == nullptr) return;
    while (const dirent* descriptor = readdir(descriptors)) {
      struct stat facts = {};
      if (IsDots(descriptor->d_name) || fstatat(dirfd(descriptors), descriptor->d_name, &facts, 0) != 0) continue;
      CountNameless(facts);
    }
    closedir(descriptors);
  }

  // A file that is mapped goes on to take room when it is neither open nor has a name.
  void MappedFilesOf(const std::string& process) {
    std::ifstream maps(process + "/maps");
    for (std::string line; std::getline(maps, line);) {
      if (!absl::EndsWith(line, " (deleted)")) continue;
      // A line begins with "BEGIN-END ". In the folder the numbers are written without zeros before them.
      const size_t dash = line.find('-'), end = line.find(' ');
      if (dash > end) continue;
      const std::string path = absl::StrCat(process, "/map_files/", WithoutZeros(line.substr(0, dash)), "-",
                                            WithoutZeros(line.substr(dash + 1, end - dash - 1)));
      struct stat facts = {};
      if (stat(path.c_str(), &facts) == 0) CountNameless(facts);
    }
  }

  // Returns whether files of the user may be in a folder. A folder of others does not count as too deep.
  bool MayEnter(const struct stat& facts, int depth) {
    if (depth > kDeepest && S_ISDIR(facts.st_mode) && facts.st_uid == uid_) use_.is_whole = false;
    return depth <= kDeepest && CanEnter(uid_, facts);
  }

  void CountNameless(const struct stat& facts) {
    if (S_ISREG(facts.st_mode) && facts.st_nlink == 0 && facts.st_uid == uid_) Count(facts);
  }

  void Count(const struct stat& facts) {
    if (!counted_.insert({facts.st_dev, facts.st_ino}).second) return;
    use_.files += 1;
    use_.bytes += facts.st_blocks * kBytesOfABlock;
  }
  bool IsOver() const { return use_.files > limits_.files || use_.bytes > limits_.bytes; }

  const uid_t uid_;
  const DiskLimits limits_;
  DiskUse use_;
  std::set<std::pair<dev_t, ino_t>> counted_;
};

// Removes what is in the folder `top`, and ends soon after the time `until` of the steady clock.
class Removal {
 public:
  Removal(int top, double until) : top_(top), until_(until) {}

  // Removes what is in the folder `name` of `parent`. What is deeper than kDeepest is first moved to the top, so that
  // no depth is too great. Returns whether something was moved.
  bool Empty(int parent, const char* name, int depth) {
    const int descriptor = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    DIR* const folder = descriptor < 0 ? nullptr : fdopendir(descriptor);
    if (folder == nullptr) {
      if (descriptor >= 0) close(descriptor);
      return false;
    }
    bool has_moved = false;
    const dirent* entry = nullptr;
    while (common::SteadySeconds() < until_ && (entry = readdir(folder)) != nullptr) {
      if (IsDots(entry->d_name) || unlinkat(descriptor, entry->d_name, 0) == 0) continue;
      if (depth < kDeepest) {
        has_moved = Empty(descriptor, entry->d_name, depth + 1) || has_moved;
        unlinkat(descriptor, entry->d_name, AT_REMOVEDIR);
      } else {
        has_moved = MoveUp(descriptor, entry->d_name) || has_moved;
      }
    }
    closedir(folder);
    return has_moved && common::SteadySeconds() < until_;
  }

 private:
  bool MoveUp(int parent, const char* name) {
    while (renameat(parent, name, top_, absl::StrCat(".moved-", moved_++).c_str()) != 0) {
      // Code of users may have taken the name on purpose.
      if (errno != ENOTEMPTY && errno != EEXIST && errno != ENOTDIR) return false;
    }
    return true;
  }

  const int top_;
  const double until_;
  int moved_ = 0;
};

// Empties the folder `name` of `parent`.
void EmptyAt(int parent, const char* name, double until) {
  const common::UniqueFd top(openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (!top.valid()) return;
  Removal removal(top.get(), until);
  while (removal.Empty(top.get(), ".", 0)) continue;
}

// Removes the files and folders of `uid` in the folder `name` of `parent`.
void RemoveFilesAt(uid_t uid, int parent, const char* name, int depth, double until) {
  const int descriptor = OpenFolder(parent, name, depth);
  DIR* const entries = descriptor < 0 ? nullptr : fdopendir(descriptor);
  if (entries == nullptr) {
    if (descriptor >= 0) close(descriptor);
    return;
  }
  const dirent* entry = nullptr;
  while (common::SteadySeconds() < until && (entry = readdir(entries)) != nullptr) {
    struct stat facts = {};
    if (IsDots(entry->d_name) || fstatat(descriptor, entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (facts.st_uid == uid) {
      if (S_ISDIR(facts.st_mode)) EmptyAt(descriptor, entry->d_name, until);
      unlinkat(descriptor, entry->d_name, S_ISDIR(facts.st_mode) ? AT_REMOVEDIR : 0);
    } else if (depth < kDeepest && CanEnter(uid, facts)) {
      RemoveFilesAt(uid, descriptor, entry->d_name, depth + 1, until);
    }
  }
  closedir(entries);
}

}  // namespace

DiskUse MeasureDiskUse(uid_t uid, const std::vector<std::string>& folders, const DiskLimits& limits) {
  Measurement measurement(uid, limits);
  for (const std::string& folder : folders) measurement.Folder(AT_FDCWD, folder.c_str(), 0);
  measurement.OpenFiles();
  return measurement.use();
}

absl::Status CheckDiskUse(const DiskUse& use, const DiskLimits& limits) {
  if (!use.is_whole) {
    return absl::ResourceExhaustedError(absl::StrCat("it has made folders that lie ", kDeepest, " deep in each other"));
  }
  if (use.bytes > limits.bytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("its files take more than the ", limits.bytes, " bytes that it may use (--code-disk)"));
  }
  if (use.files > limits.files) {
    return absl::ResourceExhaustedError(absl::StrCat("it has made more than ", limits.files, " files"));
  }
  return absl::OkStatus();
}

void RemoveFilesOf(uid_t uid, const std::string& folder, double limit_seconds) {
  RemoveFilesAt(uid, AT_FDCWD, folder.c_str(), 0, common::SteadySeconds() + limit_seconds);
}

void EmptyFolder(const std::string& folder, double limit_seconds) {
  EmptyAt(AT_FDCWD, folder.c_str(), common::SteadySeconds() + limit_seconds);
}

}  // namespace rekindle::user_code
