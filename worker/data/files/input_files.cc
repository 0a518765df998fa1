#include "worker/data/files/input_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/time/clock.h"

namespace rekindle::data {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxFiles = 1'000'000;
constexpr size_t kMaxComponents = 256;

bool IsPattern(const std::string& text) { return text.find_first_of("*?[") != std::string::npos; }

int64_t Nanoseconds(const timespec& time) { return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec; }

InputFile FileOf(const std::string& path, const struct stat& info) {
  return {path, info.st_size, Nanoseconds(info.st_mtim), Nanoseconds(info.st_ctim)};
}

// Lists the names in one folder, and closes the folder in the destructor.
class Listing {
 public:
  explicit Listing(DIR* entries) : entries_(entries) {}
  Listing(const Listing&) = delete;
  ~Listing() {
    if (entries_ != nullptr) closedir(entries_);
  }
  bool valid() const { return entries_ != nullptr; }
  int fd() const { return dirfd(entries_); }
  // Returns the next entry of the folder, or null at the end and on an error. After an error errno is set.
  const dirent* Next() {
    errno = 0;
    return readdir(entries_);
  }

 private:
  DIR* const entries_;
};

// Counts the effort of the search for all of a job's entries together, and ends the search at its limits.
class Effort {
 public:
  explicit Effort(const SearchLimits& limits) : limits_(limits), give_up_(common::SteadySeconds() + limits.seconds) {}

  absl::Status LookAtName() { return ++names_ > limits_.names ? TooMany("names", limits_.names) : CheckTime(); }
  absl::Status LookIntoFolder() {
    return ++folders_ > limits_.folders ? TooMany("folders", limits_.folders) : CheckTime();
  }

 private:
  static absl::Status TooMany(const char* of_what, int64_t limit) {
    return absl::ResourceExhaustedError(absl::StrCat("the globs lead to over ", limit, " ", of_what,
                                                     "; use fewer `**`, and name the folders that have the data"));
  }
  absl::Status CheckTime() const {
    if (common::SteadySeconds() < give_up_) return absl::OkStatus();
    return absl::ResourceExhaustedError(absl::StrCat("after ", limits_.seconds, " s and ", names_,
                                                     " names the globs were not at their end; use fewer `**`, name the "
                                                     "folders that have the data, or put them together into fewer "
                                                     "files"));
  }

  const SearchLimits limits_;
  const double give_up_;
  int64_t names_ = 0;
  int64_t folders_ = 0;
};

// Walks one glob, component by component. Only one folder is open at a time, however deep the folders lie.
class GlobWalk {
 public:
  GlobWalk(const std::string& pattern, const DataRoots& roots, Effort* effort)
      : roots_(roots), withheld_(roots.Withheld()), effort_(effort) {
    for (std::string& part : std::vector<std::string>(absl::StrSplit(pattern, '/', absl::SkipEmpty()))) {
      // Several `**` in a row mean the same as one `**`.
      if (part != "**" || parts_.empty() || parts_.back() != "**") parts_.push_back(std::move(part));
    }
  }

  absl::Status Run(bool absolute, std::vector<InputFile>* found) {
    found_ = found;
    if (parts_.size() > kMaxComponents) return absl::InvalidArgumentError("a glob has too many components");
    absl::Status status = Plan(absolute ? "/" : "", 0);
    while (status.ok() && !pending_.empty()) {
      const Place* next = pending_.back();
      pending_.pop_back();
      status = Visit(next->first, next->second);
    }
    return status;
  }
  // Returns whether the glob matched a file that was left out because no job may read it.
  bool passed_over() const { return passed_over_; }

 private:
  // A place is a folder and the index of the first part of the glob that is matched below it.
  using Place = std::pair<std::string, size_t>;

  static std::string Join(const std::string& folder, const std::string& name) {
    if (folder.empty() || folder.back() == '/') return folder + name;
    return absl::StrCat(folder, "/", name);
  }

  // Plans to match the parts of the glob from `part` on below `folder`. Several `**` can lead to the same part and
  // folder in very many ways, but each pair of part and folder is matched only once.
  absl::Status Plan(std::string folder, size_t part) {
    const auto [place, is_new] = planned_.emplace(std::move(folder), part);
    if (!is_new) return absl::OkStatus();
    pending_.push_back(&*place);
    return effort_->LookIntoFolder();
  }

  // Matches the parts of the glob from number `part` on against the names below `folder`.
  absl::Status Visit(const std::string& folder, size_t part) {
    const std::string& pattern = parts_[part];
    bool last = part + 1 == parts_.size();
    if (!IsPattern(pattern)) {
      return last ? TakeLink(Join(folder, pattern)) : Plan(Join(folder, pattern), part + 1);
    }
    bool deep = pattern == "**";
    // In a glob, `**` also matches no folder at all.
    if (deep && !last) {
      if (absl::Status status = Plan(folder, part + 1); !status.ok()) return status;
    }
    const auto found = roots_.Find(folder.empty() ? "." : folder);
    if (!found.ok() || found->own) return PassOver(found.status());
    Listing entries(opendir(found->Name().c_str()));
    if (!entries.valid() && (errno == ENOENT || errno == ENOTDIR)) return absl::OkStatus();
    if (!entries.valid()) return Unreadable(folder, errno);
    while (const dirent* entry = entries.Next()) {
      const std::string name = entry->d_name;
      if (name == "." || name == "..") continue;
      if (absl::Status status = effort_->LookAtName(); !status.ok()) return status;
      if (absl::Status status = VisitEntry(folder, entries.fd(), name, part, deep, last); !status.ok()) return status;
    }
    return errno != 0 ? Unreadable(folder, errno) : absl::OkStatus();
  }

  absl::Status VisitEntry(const std::string& folder, int fd, const std::string& name, size_t part, bool deep,
                          bool last) {
    const std::string& pattern = parts_[part];
    if (fnmatch(deep ? "*" : pattern.c_str(), name.c_str(), FNM_PERIOD) != 0) return absl::OkStatus();
    const std::string path = Join(folder, name);
    struct stat info;
    if (fstatat(fd, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
      return errno == ENOENT ? absl::OkStatus() : Unreadable(path, errno);
    }
    const bool link = S_ISLNK(info.st_mode);
    if (S_ISDIR(info.st_mode) || (link && !deep && !last)) {
      if (deep) return Plan(path, part);
      return last ? absl::OkStatus() : Plan(path, part + 1);
    }
    if (!last) return absl::OkStatus();
    // A file that is not a symbolic link lies in a folder that was found in the roots, so it is in the roots too.
    return link ? TakeLink(path) : Take(path, info, absl::StrCat("/proc/self/fd/", fd, "/", name));
  }

  // Adds to the result a file of which only the name is known, such as the target of a symbolic link.
  absl::Status TakeLink(const std::string& path) {
    const auto found = roots_.Find(path);
    if (!found.ok() || found->own) return PassOver(found.status());
    return Take(path, found->info, found->Name());
  }

  // Adds a file to the result. `opened` is a name that opens the very file that `info` describes, wherever `path` leads
  // by now.
  absl::Status Take(const std::string& path, const struct stat& info, const std::string& opened) {
    if (!S_ISREG(info.st_mode)) return absl::OkStatus();
    const DataRoots::FileId id(info.st_dev, info.st_ino);
    if (std::find(withheld_.begin(), withheld_.end(), id) != withheld_.end()) {
      passed_over_ = true;
      return absl::OkStatus();
    }
    if (access(opened.c_str(), R_OK) != 0) return Unreadable(path, errno);
    if (found_->size() >= kMaxFiles) {
      return absl::ResourceExhaustedError(
          absl::StrCat("matches over ", kMaxFiles, " files; put them together into fewer"));
    }
    found_->push_back(FileOf(path, info));
    return absl::OkStatus();
  }

  // Leaves out a name that the glob matched. `status` is OK if the file was found but is Rekindle's own.
  absl::Status PassOver(const absl::Status& status) {
    passed_over_ = passed_over_ || status.ok();
    return absl::IsNotFound(status) ? absl::OkStatus() : status;
  }

  std::vector<std::string> parts_;
  const DataRoots& roots_;
  const std::vector<DataRoots::FileId> withheld_;
  Effort* const effort_;
  std::set<Place> planned_;
  // `pending_` points to the elements of `planned_` whose folders are not visited yet. An element is a folder and the
  // index of the first part of the glob that is matched below it.
  std::vector<const Place*> pending_;
  std::vector<InputFile>* found_ = nullptr;
  bool passed_over_ = false;
};

absl::Status AddFile(const std::string& path, const DataRoots& roots, std::vector<InputFile>* found) {
  const auto file = roots.Find(path);
  if (!file.ok()) return file.status();
  if (file->own) return DataRoots::RefuseOwn(path);
  if (S_ISDIR(file->info.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat(path, " is a folder; write ", path, "/** for the files in it"));
  }
  if (!S_ISREG(file->info.st_mode)) return absl::InvalidArgumentError(absl::StrCat(path, " is no regular file"));
  if (access(file->Name().c_str(), R_OK) != 0) return Unreadable(path, errno);
  if (file->info.st_size == 0) return absl::InvalidArgumentError(absl::StrCat(path, " is empty"));
  found->push_back(FileOf(path, file->info));
  return absl::OkStatus();
}

absl::Status AddGlob(const std::string& pattern, const DataRoots& roots, Effort* effort,
                     std::vector<InputFile>* found) {
  size_t before = found->size();
  GlobWalk walk(pattern, roots, effort);
  if (absl::Status status = walk.Run(pattern.front() == '/', found); !status.ok()) return status;
  if (found->size() > before) return absl::OkStatus();
  return absl::NotFoundError(absl::StrCat(
      "no file matches ", pattern, walk.passed_over() ? " that a job may read: what does is Rekindle's own" : ""));
}

}  // namespace

std::string FixedPart(const std::string& entry) {
  const std::string path = fs::path(entry).lexically_normal().string();
  if (!IsPattern(path)) return path;
  const std::string fixed = path.substr(0, path.rfind('/', path.find_first_of("*?[")));
  return fixed.empty() ? "/" : fixed;
}

absl::StatusOr<std::vector<InputFile>> FindInputFiles(const std::vector<std::string>& entries, const DataRoots& roots,
                                                      const SearchLimits& limits) {
  if (entries.empty()) return absl::InvalidArgumentError("name at least one file or glob");
  std::vector<InputFile> found;
  Effort effort(limits);
  for (const std::string& entry : entries) {
    if (entry.empty()) return absl::InvalidArgumentError("an entry is empty");
    std::string path = fs::path(entry).lexically_normal().string();
    const absl::Status inside = roots.CheckName(FixedPart(path));
    if (!inside.ok()) return inside;
    // If a file exists whose name is exactly the entry, with its `*` or `[`, the entry means that file and is not a
    // glob.
    bool glob = IsPattern(path) && access(path.c_str(), F_OK) != 0;
    absl::Status added = glob ? AddGlob(path, roots, &effort, &found) : AddFile(path, roots, &found);
    if (!added.ok()) return added;
  }
  std::sort(found.begin(), found.end(), [](const InputFile& a, const InputFile& b) { return a.path < b.path; });
  auto same_path = [](const InputFile& a, const InputFile& b) { return a.path == b.path; };
  found.erase(std::unique(found.begin(), found.end(), same_path), found.end());
  if (std::all_of(found.begin(), found.end(), [](const InputFile& file) { return file.size == 0; })) {
    return absl::InvalidArgumentError(
        absl::StrCat("all ", found.size(), " files are empty, among them ", found.front().path));
  }
  return found;
}

}  // namespace rekindle::data
