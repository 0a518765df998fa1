#include "common/bundle/unpack.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/bundle/bundle_reader.h"
#include "common/files/unique_fd.h"

namespace rekindle::common {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kFileMode = 0444, kProgramMode = 0555, kFolderMode = 0555;

// Writes the files of a bundle below a folder. The folder was just made, only this process writes it, and there are no
// links in it, so no name of a bundle leads out of it.
class Unpacker {
 public:
  explicit Unpacker(std::string folder) : folder_(std::move(folder)) {}

  absl::Status Begin(const BundleEntry& entry) {
    const std::string path = absl::StrCat(folder_, "/", entry.name);
    for (size_t slash = entry.name.find('/'); slash != std::string::npos; slash = entry.name.find('/', slash + 1)) {
      if (absl::Status made = MakeFolder(entry.name.substr(0, slash)); !made.ok()) return made;
    }
    file_ = UniqueFd(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file_.valid()) return ErrnoStatus(errno, "cannot make", path);
    if (fchmod(file_.get(), entry.executable ? kProgramMode : kFileMode) != 0) {
      return ErrnoStatus(errno, "cannot set the mode of", path);
    }
    return absl::OkStatus();
  }

  absl::Status Content(std::string_view piece) {
    while (!piece.empty()) {
      const ssize_t written = write(file_.get(), piece.data(), piece.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return ErrnoStatus(errno, "cannot write a file in", folder_);
      piece.remove_prefix(static_cast<size_t>(written));
    }
    return absl::OkStatus();
  }

  // Takes the right to write from all folders.
  absl::Status Close() {
    file_.Reset();
    folders_.insert("");
    for (const std::string& name : folders_) {
      const std::string path = absl::StrCat(folder_, "/", name);
      if (chmod(path.c_str(), kFolderMode) != 0) return ErrnoStatus(errno, "cannot set the mode of", path);
    }
    return absl::OkStatus();
  }

 private:
  absl::Status MakeFolder(const std::string& name) {
    if (!folders_.insert(name).second) return absl::OkStatus();
    const std::string path = absl::StrCat(folder_, "/", name);
    return mkdir(path.c_str(), 0700) == 0 ? absl::OkStatus() : ErrnoStatus(errno, "cannot make", path);
  }

  const std::string folder_;
  UniqueFd file_;
  std::set<std::string> folders_;
};

absl::Status Differs(const std::string& what, const std::string& how) {
  return absl::FailedPreconditionError(absl::StrCat(what, " ", how));
}

// Compares the files of a folder with those of a bundle.
class Comparer {
 public:
  explicit Comparer(std::string folder) : folder_(std::move(folder)) {}

  absl::Status Begin(const BundleEntry& entry) {
    path_ = absl::StrCat(folder_, "/", entry.name);
    names_.insert(entry.name);
    file_ = UniqueFd(open(path_.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    struct stat info = {};
    if (!file_.valid() || fstat(file_.get(), &info) != 0 || !S_ISREG(info.st_mode)) return Differs(path_, "is missing");
    const mode_t mode = entry.executable ? kProgramMode : kFileMode;
    if (info.st_size != entry.bytes || (info.st_mode & 0777) != mode) {
      return Differs(path_, "has another size or mode");
    }
    return absl::OkStatus();
  }

  absl::Status Content(std::string_view piece) {
    std::vector<char> buffer(piece.size());
    for (size_t at = 0; at < piece.size();) {
      const ssize_t got = read(file_.get(), buffer.data() + at, buffer.size() - at);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return Differs(path_, "cannot be read");
      at += static_cast<size_t>(got);
    }
    return std::string_view(buffer.data(), buffer.size()) == piece ? absl::OkStatus()
                                                                   : Differs(path_, "has other content");
  }

  // Checks that nothing else is in the folder.
  absl::Status Close() const {
    std::error_code error;
    for (auto at = fs::recursive_directory_iterator(folder_, error); !error && at != fs::end(at); at.increment(error)) {
      if (at->path().filename() == "__pycache__") {
        at.disable_recursion_pending();
        continue;
      }
      if (at->is_directory(error) && !at->is_symlink(error)) continue;
      const std::string name = at->path().lexically_relative(folder_).string();
      if (names_.count(name) == 0) return Differs(at->path().string(), "does not belong there");
    }
    return error ? Differs(folder_, "cannot be read") : absl::OkStatus();
  }

 private:
  const std::string folder_;
  std::string path_;
  UniqueFd file_;
  std::set<std::string> names_;
};

template <typename Taker>
BundleVisitor VisitorOf(Taker& taker) {
  return {.begin = [&taker](const BundleEntry& entry) { return taker.Begin(entry); },
          .content = [&taker](std::string_view piece) { return taker.Content(piece); }};
}

}  // namespace

absl::Status UnpackBundle(const std::string& packed, const std::string& address, const std::string& folder) {
  const std::string unfinished = folder + ".new";
  if (absl::Status removed = RemoveUnpacked(unfinished); !removed.ok()) return removed;
  if (mkdir(unfinished.c_str(), 0700) != 0) return ErrnoStatus(errno, "cannot make", unfinished);
  Unpacker unpacker(unfinished);
  absl::Status status = ReadBundleFile(*PosixFileSystem(), packed, address, VisitorOf(unpacker)).status();
  if (status.ok()) status = unpacker.Close();
  if (status.ok()) status = RemoveUnpacked(folder);
  if (status.ok()) status = PosixFileSystem()->Rename(unfinished, folder);
  if (!status.ok()) RemoveUnpacked(unfinished).IgnoreError();
  return status;
}

absl::Status CheckUnpacked(const std::string& packed, const std::string& address, const std::string& folder) {
  Comparer comparer(folder);
  const auto read = ReadBundleFile(*PosixFileSystem(), packed, address, VisitorOf(comparer));
  return read.ok() ? comparer.Close() : read.status();
}

absl::Status RemoveUnpacked(const std::string& folder) {
  // Only a folder that its owner may write can be emptied.
  std::error_code error;
  if (!fs::exists(fs::symlink_status(folder, error))) return absl::OkStatus();
  chmod(folder.c_str(), 0700);
  for (auto at = fs::recursive_directory_iterator(folder, error); !error && at != fs::end(at); at.increment(error)) {
    if (at->is_directory(error) && !at->is_symlink(error)) chmod(at->path().c_str(), 0700);
  }
  fs::remove_all(folder, error);
  return error ? absl::InternalError(absl::StrCat("cannot remove ", folder, ": ", error.message())) : absl::OkStatus();
}

}  // namespace rekindle::common
