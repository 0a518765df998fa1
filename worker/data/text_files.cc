#include "worker/data/text_files.h"

#include <fnmatch.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace rekindle::data {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxFiles = 1'000'000;
constexpr size_t kMaxComponents = 256;

bool IsPattern(const std::string& text) { return text.find_first_of("*?[") != std::string::npos; }

int64_t Nanoseconds(const timespec& time) { return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec; }

absl::Status Unreadable(const std::string& path, int error) {
  std::string text = absl::StrCat("cannot read ", path, ": ", std::generic_category().message(error));
  if (error == ENOENT) return absl::NotFoundError(absl::StrCat(path, " does not exist"));
  if (error == EACCES || error == EPERM) {
    return absl::PermissionDeniedError(absl::StrCat(text, "; give the worker's user the right to read it"));
  }
  return absl::FailedPreconditionError(text);
}

// Walks one glob, component by component.
class GlobWalk {
 public:
  explicit GlobWalk(const std::string& pattern) : parts_(absl::StrSplit(pattern, '/', absl::SkipEmpty())) {}

  absl::Status Run(bool absolute, std::vector<TextFile>* found) {
    found_ = found;
    if (parts_.size() > kMaxComponents) return absl::InvalidArgumentError("a glob has too many components");
    return Visit(absolute ? "/" : "", 0);
  }

 private:
  static std::string Join(const std::string& folder, const std::string& name) {
    if (folder.empty() || folder.back() == '/') return folder + name;
    return absl::StrCat(folder, "/", name);
  }

  // Matches parts_[part..] below `folder`.
  absl::Status Visit(const std::string& folder, size_t part) {
    const std::string& pattern = parts_[part];
    bool last = part + 1 == parts_.size();
    if (!IsPattern(pattern)) return last ? Take(Join(folder, pattern)) : Visit(Join(folder, pattern), part + 1);
    bool deep = pattern == "**";
    if (deep && !last) {  // `**` matches no folder, too.
      if (absl::Status status = Visit(folder, part + 1); !status.ok()) return status;
    }
    std::error_code error;
    fs::directory_iterator entries(folder.empty() ? "." : folder, error);
    if (error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory) return absl::OkStatus();
    if (error) return Unreadable(folder, error.value());
    for (; entries != fs::directory_iterator(); entries.increment(error)) {
      if (absl::Status status = VisitEntry(folder, *entries, part, deep, last); !status.ok()) return status;
    }
    return error ? Unreadable(folder, error.value()) : absl::OkStatus();
  }

  absl::Status VisitEntry(const std::string& folder, const fs::directory_entry& entry, size_t part, bool deep,
                          bool last) {
    std::string name = entry.path().filename().string();
    const std::string& pattern = parts_[part];
    if (fnmatch(deep ? "*" : pattern.c_str(), name.c_str(), FNM_PERIOD) != 0) return absl::OkStatus();
    std::error_code error;
    bool folder_inside = entry.is_directory(error) && !(deep && entry.is_symlink(error));
    std::string path = Join(folder, name);
    if (folder_inside && deep) return Visit(path, part);
    if (folder_inside && !last) return Visit(path, part + 1);
    return last ? Take(path) : absl::OkStatus();
  }

  absl::Status Take(const std::string& path) {
    struct stat info;
    if (stat(path.c_str(), &info) != 0) return errno == ENOENT ? absl::OkStatus() : Unreadable(path, errno);
    if (!S_ISREG(info.st_mode)) return absl::OkStatus();
    if (access(path.c_str(), R_OK) != 0) return Unreadable(path, errno);
    if (found_->size() >= kMaxFiles) {
      return absl::ResourceExhaustedError(
          absl::StrCat("matches over ", kMaxFiles, " files; put them together into fewer"));
    }
    found_->push_back({path, info.st_size, Nanoseconds(info.st_mtim), Nanoseconds(info.st_ctim)});
    return absl::OkStatus();
  }

  std::vector<std::string> parts_;
  std::vector<TextFile>* found_ = nullptr;
};

absl::Status AddFile(const std::string& path, std::vector<TextFile>* found) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) return Unreadable(path, errno);
  if (S_ISDIR(info.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat(path, " is a folder; write ", path, "/** for the files in it"));
  }
  if (!S_ISREG(info.st_mode)) return absl::InvalidArgumentError(absl::StrCat(path, " is no regular file"));
  if (access(path.c_str(), R_OK) != 0) return Unreadable(path, errno);
  if (info.st_size == 0) return absl::InvalidArgumentError(absl::StrCat(path, " is empty"));
  found->push_back({path, info.st_size, Nanoseconds(info.st_mtim), Nanoseconds(info.st_ctim)});
  return absl::OkStatus();
}

absl::Status AddGlob(const std::string& pattern, std::vector<TextFile>* found) {
  size_t before = found->size();
  if (absl::Status status = GlobWalk(pattern).Run(pattern.front() == '/', found); !status.ok()) return status;
  if (found->size() == before) return absl::NotFoundError(absl::StrCat("no file matches ", pattern));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<TextFile>> FindTextFiles(const std::vector<std::string>& entries) {
  if (entries.empty()) return absl::InvalidArgumentError("name at least one file or glob");
  std::vector<TextFile> found;
  for (const std::string& entry : entries) {
    if (entry.empty()) return absl::InvalidArgumentError("an entry is empty");
    std::string path = fs::path(entry).lexically_normal().string();
    // A file whose very name has a `*` or `[` is that file.
    bool glob = IsPattern(path) && access(path.c_str(), F_OK) != 0;
    if (absl::Status status = glob ? AddGlob(path, &found) : AddFile(path, &found); !status.ok()) return status;
  }
  std::sort(found.begin(), found.end(), [](const TextFile& a, const TextFile& b) { return a.path < b.path; });
  auto same_path = [](const TextFile& a, const TextFile& b) { return a.path == b.path; };
  found.erase(std::unique(found.begin(), found.end(), same_path), found.end());
  if (std::all_of(found.begin(), found.end(), [](const TextFile& file) { return file.size == 0; })) {
    return absl::InvalidArgumentError(
        absl::StrCat("all ", found.size(), " files are empty, among them ", found.front().path));
  }
  return found;
}

}  // namespace rekindle::data
