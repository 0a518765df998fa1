#include "worker/data/files/data_roots.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/files/state_folder.h"

namespace rekindle::data {
namespace {

std::string Normal(const std::string& path) {
  std::string normal = std::filesystem::path(path).lexically_normal().string();
  while (normal.size() > 1 && normal.back() == '/') normal.pop_back();
  return normal;
}

bool IsIn(const std::string& folder, const std::string& path) {
  return folder == "/" || path == folder || absl::StartsWith(path, folder + "/");
}

// Returns the path with all symbolic links resolved, or the path itself if nothing is there.
std::string RealPath(const std::string& path) {
  char resolved[PATH_MAX];
  return realpath(path.c_str(), resolved) == nullptr ? path : resolved;
}

// Returns the path of the descriptor's file, or an empty text if the file has no path in this mount namespace.
std::string PathOf(int fd) {
  std::error_code error;
  const std::string path = std::filesystem::read_symlink(absl::StrCat("/proc/self/fd/", fd), error).string();
  return !error && absl::StartsWith(path, "/") ? path : "";
}

// Returns whether a symbolic link lies on the path, as far as the path exists. Returns true also if this is not known.
bool HasLink(const std::string& path) {
  open_how how = {};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS;
  const common::UniqueFd fd(static_cast<int>(syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how)));
  return !fd.valid() && errno != ENOENT && errno != ENOTDIR && errno != EACCES;
}

}  // namespace

absl::Status Unreadable(const std::string& path, int error) {
  const std::string text = absl::StrCat("cannot read ", path, ": ", std::generic_category().message(error));
  if (error == ENOENT) return absl::NotFoundError(absl::StrCat(path, " does not exist"));
  if (error == EACCES || error == EPERM) {
    return absl::PermissionDeniedError(absl::StrCat(text, "; give the worker's user the right to read it"));
  }
  return absl::FailedPreconditionError(text);
}

DataRoots::DataRoots(std::vector<std::string> roots, std::vector<std::string> withheld)
    : roots_(std::move(roots)), withheld_(std::move(withheld)) {
  for (std::string& root : roots_) root = Normal(root);
  std::erase(withheld_, "");
}

absl::Status DataRoots::CheckRoots(const std::vector<std::string>& roots) {
  for (const std::string& root : roots) {
    if (absl::StartsWith(root, "/")) continue;
    return absl::InvalidArgumentError(absl::StrCat("--data-root: '", root, "' is not absolute: begin it with '/'"));
  }
  return absl::OkStatus();
}

bool DataRoots::HasAll() const { return std::find(roots_.begin(), roots_.end(), "/") != roots_.end(); }

absl::StatusOr<std::string> DataRoots::Below(const std::string& path) const {
  const std::string normal = Normal(path);
  if (HasAll()) return normal;
  for (const std::string& root : roots_) {
    const std::string real = RealPath(root);
    if (IsIn(root, normal)) return real + normal.substr(root.size());
    if (IsIn(real, normal)) return normal;
  }
  return absl::PermissionDeniedError(absl::StrCat(
      path, " is outside of what jobs may read here: ", roots_.empty() ? "nothing" : absl::StrJoin(roots_, ", "),
      " (--data-root); move it there, or let the operator list its folder"));
}

absl::Status DataRoots::CheckName(const std::string& path) const { return Below(path).status(); }

bool DataRoots::IsInside(const std::string& real) const {
  return !real.empty() &&
         std::any_of(roots_.begin(), roots_.end(), [&](const std::string& root) { return IsIn(RealPath(root), real); });
}

std::vector<DataRoots::FileId> DataRoots::Withheld() const {
  std::vector<FileId> files;
  for (const std::string& path : withheld_) {
    struct stat info = {};
    if (stat(path.c_str(), &info) == 0) files.emplace_back(info.st_dev, info.st_ino);
  }
  return files;
}

bool DataRoots::IsOwn(const std::string& real, const struct stat& info) const {
  for (const FileId& file : Withheld()) {
    if (file == FileId(info.st_dev, info.st_ino)) return true;
  }
  std::string folder = real;
  while (true) {
    if (common::IsStateFolder(folder)) return true;
    const size_t slash = folder.rfind('/');
    if (slash == std::string::npos || slash == 0) return false;
    folder.resize(slash);
  }
}

std::string DataRoots::Found::Name() const { return absl::StrCat("/proc/self/fd/", fd.get()); }

absl::StatusOr<DataRoots::Found> DataRoots::Find(const std::string& path) const {
  const absl::StatusOr<std::string> below = Below(path);
  if (!below.ok()) return below.status();
  Found found;
  found.fd = common::UniqueFd(open(below->c_str(), O_PATH | O_CLOEXEC));
  const int cause = errno;
  const std::string real = found.fd.valid() ? PathOf(found.fd.get()) : "";
  const bool inside = IsInside(real) && fstat(found.fd.get(), &found.info) == 0;
  if (!inside && !HasAll() && HasLink(*below)) {
    return absl::NotFoundError(
        absl::StrCat(path, " is behind a link that leads nowhere in the folders that jobs may read"));
  }
  if (!inside) return Unreadable(path, found.fd.valid() ? ENOENT : cause);
  found.own = IsOwn(real, found.info);
  return found;
}

absl::Status DataRoots::RefuseOwn(const std::string& path) {
  return absl::PermissionDeniedError(
      absl::StrCat(path, " is Rekindle's own (a key, a token, or its state), which no job reads"));
}

absl::StatusOr<common::UniqueFd> DataRoots::Open(const std::string& path) const {
  const absl::StatusOr<Found> found = Find(path);
  if (!found.ok()) return found.status();
  if (found->own) return RefuseOwn(path);
  if (!S_ISREG(found->info.st_mode)) return absl::InvalidArgumentError(absl::StrCat(path, " is no regular file"));
  common::UniqueFd file(open(found->Name().c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return Unreadable(path, errno);
  return file;
}

}  // namespace rekindle::data
