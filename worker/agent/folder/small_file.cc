#include "worker/agent/folder/small_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/process/process.h"

namespace rekindle::agent {
namespace {

constexpr char kUnfinished[] = ".unfinished";

absl::Status WriteAll(int fd, const std::string& content, const std::string& path) {
  size_t done = 0;
  while (done < content.size()) {
    const ssize_t wrote = write(fd, content.data() + done, content.size() - done);
    if (wrote < 0) return common::ErrnoError(absl::StrCat("write ", path));
    done += static_cast<size_t>(wrote);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ReplaceFile(const std::string& path, const std::string& content) {
  const std::string unfinished = absl::StrCat(path, kUnfinished);
  {
    common::UniqueFd fd(open(unfinished.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!fd.valid()) return common::ErrnoError(absl::StrCat("create ", unfinished));
    const absl::Status written = WriteAll(fd.get(), content, unfinished);
    if (!written.ok()) {
      unlink(unfinished.c_str());
      return written;
    }
  }
  if (rename(unfinished.c_str(), path.c_str()) != 0) return common::ErrnoError(absl::StrCat("rename to ", path));
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadSmallFile(const std::string& path, size_t limit) {
  common::UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) return common::ErrnoError(absl::StrCat("open ", path));
  struct stat info = {};
  if (fstat(fd.get(), &info) != 0) return common::ErrnoError(absl::StrCat("stat ", path));
  if (!S_ISREG(info.st_mode)) return absl::InternalError(absl::StrCat(path, " is not a file"));
  if (static_cast<size_t>(info.st_size) > limit) {
    return absl::ResourceExhaustedError(absl::StrCat(path, " is larger than ", limit, " bytes"));
  }
  std::string content(static_cast<size_t>(info.st_size), '\0');
  size_t done = 0;
  while (done < content.size()) {
    const ssize_t got = read(fd.get(), content.data() + done, content.size() - done);
    if (got < 0) return common::ErrnoError(absl::StrCat("read ", path));
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  content.resize(done);
  return content;
}

std::vector<std::string> ListFolder(const std::string& path) {
  std::vector<std::string> names;
  DIR* folder = opendir(path.c_str());
  if (folder == nullptr) return names;
  while (const dirent* entry = readdir(folder)) {
    const std::string name = entry->d_name;
    if (name != "." && name != ".." && !absl::EndsWith(name, kUnfinished)) names.push_back(name);
  }
  closedir(folder);
  std::sort(names.begin(), names.end());
  return names;
}

void RemoveFile(const std::string& path) { unlink(path.c_str()); }

bool IsSafeName(const std::string& name, size_t longest) {
  if (name.empty() || name.size() > longest || name[0] == '.') return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
  });
}

}  // namespace rekindle::agent
