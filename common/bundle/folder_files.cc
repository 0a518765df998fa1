#include "common/bundle/folder_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/bundle/ignore_rules.h"
#include "common/bundle/never_sent.h"
#include "common/files/file.h"
#include "common/text/printable.h"

namespace rekindle::common {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxRulesBytes = 1 << 20;
// A walk ends after so many names, because the folder is surely not the one that the user meant.
constexpr int kMaxSeen = 500'000;
constexpr size_t kShownParts = 4;

// Holds the rules of one folder. `base` is the path of the walk's root relative to that folder, with "/" behind it, or
// "" for the root itself and the folders below it. `below` is that folder relative to the root, with "/" behind it.
struct PlacedRules {
  IgnoreRules rules;
  std::string base;
  std::string below;
};

std::optional<bool> Verdict(const std::vector<PlacedRules>& all, const std::string& path, bool is_folder) {
  for (auto placed = all.rbegin(); placed != all.rend(); ++placed) {
    if (!absl::StartsWith(path, placed->below)) continue;
    const std::string from_there = placed->base + path.substr(placed->below.size());
    if (const std::optional<bool> verdict = placed->rules.Ignores(from_there, is_folder)) return verdict;
  }
  return std::nullopt;
}

std::string Bytes(int64_t bytes) {
  const double mega = static_cast<double>(bytes) / (1 << 20);
  return mega >= 1024 ? absl::StrFormat("%.1f GB", mega / 1024) : absl::StrFormat("%.1f MB", mega);
}

class Walk {
 public:
  explicit Walk(fs::path root) : root_(std::move(root)) {}

  absl::StatusOr<FolderFiles> Run() {
    git_.push_back({IgnoreRules(kLeftOutByDefault), "", ""});
    if (absl::Status read = ReadRulesAbove(); !read.ok()) return read;
    if (absl::Status walked = Enter("", 0); !walked.ok()) return walked;
    std::sort(found_.files.begin(), found_.files.end(),
              [](const BundleEntry& a, const BundleEntry& b) { return a.name < b.name; });
    std::sort(found_.withheld.begin(), found_.withheld.end());
    found_.folder = root_.string();
    return std::move(found_);
  }

 private:
  absl::Status Refuse(const std::string& name, const std::string& why) const {
    return absl::InvalidArgumentError(
        absl::StrCat((root_ / name).string(), " ", why, ": move it, or leave it out by a line in .rekindleignore"));
  }

  // Adds the rules in a file, if it is there.
  static absl::Status ReadRules(const fs::path& file, std::string base, std::string below,
                                std::vector<PlacedRules>* rules) {
    const absl::StatusOr<std::string> text = ReadFile(*PosixFileSystem(), file.string(), kMaxRulesBytes);
    if (absl::IsNotFound(text.status())) return absl::OkStatus();
    if (!text.ok()) return text.status();
    rules->push_back({IgnoreRules(*text), std::move(base), std::move(below)});
    return absl::OkStatus();
  }

  // Reads the rules of the folders above the root, as far as they belong to its repository.
  absl::Status ReadRulesAbove() {
    std::error_code error;
    std::vector<fs::path> above;
    fs::path at = root_;
    while (!fs::exists(at / ".git", error)) {
      if (at == at.parent_path()) return absl::OkStatus();
      at = at.parent_path();
      above.push_back(at);
    }
    for (auto folder = above.rbegin(); folder != above.rend(); ++folder) {
      const std::string base = root_.lexically_relative(*folder).string() + "/";
      if (absl::Status read = ReadRules(*folder / ".gitignore", base, "", &git_); !read.ok()) return read;
    }
    return absl::OkStatus();
  }

  bool IsLeftOut(const std::string& name, bool is_folder) const {
    if (const std::optional<bool> own = Verdict(own_, name, is_folder)) return *own;
    return Verdict(git_, name, is_folder).value_or(false);
  }

  // Walks the folder `below`, which is "" or ends with "/".
  absl::Status Enter(const std::string& below, int depth) {
    const fs::path folder = root_ / below;
    if (depth > kMaxBundleDepth) return Refuse(below, "is too deep in the folder");
    const size_t git = git_.size(), own = own_.size();
    if (absl::Status read = ReadRules(folder / ".gitignore", "", below, &git_); !read.ok()) return read;
    if (absl::Status read = ReadRules(folder / ".rekindleignore", "", below, &own_); !read.ok()) return read;
    const absl::StatusOr<std::vector<std::string>> names = PosixFileSystem()->List(folder.string());
    if (!names.ok()) return names.status();
    for (const std::string& name : *names) {
      if (absl::Status taken = Take(below + name, name, depth); !taken.ok()) return taken;
    }
    git_.erase(git_.begin() + static_cast<std::ptrdiff_t>(git), git_.end());
    own_.erase(own_.begin() + static_cast<std::ptrdiff_t>(own), own_.end());
    return absl::OkStatus();
  }

  absl::Status Take(const std::string& path, const std::string& name, int depth) {
    if (++seen_ > kMaxSeen) {
      return absl::ResourceExhaustedError(absl::StrCat(root_.string(), " has more than ", kMaxSeen,
                                                       " files and folders: give the job a folder of its own"));
    }
    struct stat info = {};
    if (lstat((root_ / path).c_str(), &info) != 0) return ErrnoStatus(errno, "cannot look at", (root_ / path).string());
    const bool is_folder = S_ISDIR(info.st_mode);
    if (IsNeverSent(name) || (is_folder && IsStateOfRekindle(path))) {
      found_.withheld.push_back(path + (is_folder ? "/" : ""));
      return absl::OkStatus();
    }
    if (IsLeftOut(path, is_folder)) return absl::OkStatus();
    if (is_folder) return IsEnvironment(path) ? absl::OkStatus() : Enter(path + "/", depth + 1);
    if (S_ISLNK(info.st_mode)) {
      if (absl::Status followed = Follow(path, &info); !followed.ok()) return followed;
    }
    if (!S_ISREG(info.st_mode)) return Refuse(path, "is neither a file nor a folder");
    if (absl::Status fit = CheckBundleName(path); !fit.ok()) return Refuse(Printable(path), std::string(fit.message()));
    found_.files.push_back({path, (info.st_mode & S_IXUSR) != 0, info.st_size});
    return absl::OkStatus();
  }

  // Finds the file to which a link leads.
  absl::Status Follow(const std::string& path, struct stat* info) const {
    std::error_code error;
    const fs::path target = fs::canonical(root_ / path, error);
    if (error) return Refuse(path, "is a link that leads nowhere");
    const std::string inside = root_.string() == "/" ? "/" : root_.string() + "/";
    if (!absl::StartsWith(target.string(), inside)) return Refuse(path, "is a link that leads out of the folder");
    fs::path at;
    for (const fs::path& part : target.lexically_relative(root_)) {
      at /= part;
      if (IsNeverSent(part.string()) || IsStateOfRekindle(at.string())) {
        return Refuse(path, "is a link to what is never sent");
      }
    }
    if (stat(target.c_str(), info) != 0) return ErrnoStatus(errno, "cannot look at", target.string());
    return S_ISDIR(info->st_mode) ? Refuse(path, "is a link to a folder") : absl::OkStatus();
  }

  bool IsEnvironment(const std::string& path) const { return IsThere(path + "/pyvenv.cfg"); }
  bool IsStateOfRekindle(const std::string& path) const { return IsThere(path + "/.rekindle-state"); }
  bool IsThere(const std::string& path) const {
    std::error_code error;
    return fs::exists(root_ / path, error);
  }

  const fs::path root_;
  std::vector<PlacedRules> git_, own_;
  FolderFiles found_;
  int seen_ = 0;
};

absl::Status CheckLimits(const FolderFiles& found) {
  int64_t bytes = 0;
  for (const BundleEntry& file : found.files) bytes += file.bytes;
  const int files = static_cast<int>(found.files.size());
  if (files == 0) {
    return absl::InvalidArgumentError(absl::StrCat(found.folder, " has no file that is sent: name another folder"));
  }
  if (files <= kMaxBundleFiles && bytes <= kMaxBundleBytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      found.folder, " has ", files, " files of ", Bytes(bytes), ", and at most ", kMaxBundleFiles, " files of ",
      Bytes(kMaxBundleBytes), " are sent. The largest are ", LargestParts(found.files),
      ": leave out what the code does not need by lines in .rekindleignore, and read data from a path on the nodes"));
}

}  // namespace

std::string LargestParts(const std::vector<BundleEntry>& files) {
  std::map<std::string, std::pair<int64_t, int>> parts;
  for (const BundleEntry& file : files) {
    const size_t slash = file.name.find('/');
    auto& [bytes, count] = parts[slash == std::string::npos ? file.name : file.name.substr(0, slash + 1)];
    bytes += file.bytes;
    ++count;
  }
  std::vector<std::pair<std::string, std::pair<int64_t, int>>> order(parts.begin(), parts.end());
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> shown;
  for (const auto& [name, size] : order) {
    if (shown.size() == kShownParts) break;
    const std::string count = absl::EndsWith(name, "/") ? absl::StrCat(size.second, " files, ") : "";
    shown.push_back(absl::StrCat(Printable(name), " (", count, Bytes(size.first), ")"));
  }
  return absl::StrJoin(shown, ", ");
}

absl::StatusOr<FolderFiles> ListFolderFiles(const std::string& folder) {
  std::error_code error;
  const fs::path root = fs::canonical(folder, error);
  if (error || !fs::is_directory(root, error)) {
    return absl::InvalidArgumentError(absl::StrCat(folder, " is no folder that can be read"));
  }
  absl::StatusOr<FolderFiles> found = Walk(root).Run();
  if (!found.ok()) return found;
  if (absl::Status fit = CheckLimits(*found); !fit.ok()) return fit;
  return found;
}

}  // namespace rekindle::common
