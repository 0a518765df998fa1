#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/files/direct_read.h"
#include "common/files/file.h"
#include "common/files/unique_fd.h"

namespace rekindle::common {
namespace {

bool IsBlocks(uint64_t value) { return value % kBlockBytes == 0; }

class PosixWritableFile : public WritableFile {
 public:
  PosixWritableFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}

  absl::Status Append(const void* data, size_t bytes) override {
    auto* at = static_cast<const char*>(data);
    while (bytes > 0) {
      const bool direct = SetDirect(bytes >= kBlockBytes && IsBlocks(reinterpret_cast<uintptr_t>(at)));
      const ssize_t n = ::write(fd_.get(), at, direct ? bytes - bytes % kBlockBytes : bytes);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno == EINVAL && direct) {
        can_direct_ = false;
        continue;
      }
      if (n < 0) return ErrnoStatus(errno, "cannot write", path_);
      at += n;
      size_ += static_cast<uint64_t>(n);
      bytes -= static_cast<size_t>(n);
    }
    return absl::OkStatus();
  }

  absl::Status Overwrite(int64_t offset, const void* data, size_t bytes) override {
    SetDirect(false);
    auto* at = static_cast<const char*>(data);
    while (bytes > 0) {
      const ssize_t n = ::pwrite(fd_.get(), at, bytes, offset);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return ErrnoStatus(errno, "cannot write", path_);
      at += n;
      offset += n;
      bytes -= static_cast<size_t>(n);
    }
    return absl::OkStatus();
  }

  absl::Status Sync() override {
    if (::fdatasync(fd_.get()) != 0) return ErrnoStatus(errno, "cannot sync", path_);
    return absl::OkStatus();
  }

  absl::Status Close() override {
    if (::close(fd_.Release()) != 0) return ErrnoStatus(errno, "cannot close", path_);
    return absl::OkStatus();
  }

 private:
  // Switches between writing past the page cache and through it. Returns whether writes now go past it.
  bool SetDirect(bool wanted) {
    wanted = wanted && can_direct_ && IsBlocks(size_);
    if (wanted != direct_ && ::fcntl(fd_.get(), F_SETFL, wanted ? O_DIRECT : 0) == 0) direct_ = wanted;
    return wanted && direct_;
  }

  const std::string path_;
  UniqueFd fd_;
  uint64_t size_ = 0;
  // `can_direct_` is false if the file system cannot write directly.
  bool can_direct_ = true;
  bool direct_ = false;
};

class PosixReadableFile : public ReadableFile {
 public:
  PosixReadableFile(std::string path, int fd) : path_(std::move(path)), fd_(fd), direct_(fd) {}

  absl::StatusOr<size_t> ReadAt(int64_t offset, void* out, size_t bytes) const override {
    size_t done = 0;
    while (done < bytes) {
      if (const size_t n = direct_.Read(offset + done, static_cast<char*>(out) + done, bytes - done); n > 0) {
        done += n;
        continue;
      }
      const ssize_t n = ::pread(fd_.get(), static_cast<char*>(out) + done, bytes - done, offset + done);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return ErrnoStatus(errno, "cannot read", path_);
      if (n == 0) break;
      done += static_cast<size_t>(n);
    }
    return done;
  }

  absl::StatusOr<int64_t> Size() const override {
    struct stat info;
    if (::fstat(fd_.get(), &info) != 0) return ErrnoStatus(errno, "cannot stat", path_);
    return info.st_size;
  }

 private:
  const std::string path_;
  UniqueFd fd_;
  DirectReader direct_;
};

class PosixFiles : public FileSystem {
 public:
  // If `group` is given, its members may read the files and folders that this file system creates.
  explicit PosixFiles(std::optional<gid_t> group) : group_(group) {}

  absl::StatusOr<std::unique_ptr<WritableFile>> Create(const std::string& path) override {
    UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (fd.get() < 0) return ErrnoStatus(errno, "cannot create", path);
    if (absl::Status shared = Share(fd.get(), 0640, path); !shared.ok()) return shared;
    return std::make_unique<PosixWritableFile>(path, fd.Release());
  }

  absl::StatusOr<std::unique_ptr<ReadableFile>> Open(const std::string& path) override {
    // The file is opened with O_NONBLOCK, so that a FIFO in the store cannot hang a reader.
    UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (fd.get() < 0) return ErrnoStatus(errno, "cannot open", path);
    struct stat info;
    if (::fstat(fd.get(), &info) != 0) return ErrnoStatus(errno, "cannot stat", path);
    if (!S_ISREG(info.st_mode)) return absl::InvalidArgumentError(absl::StrCat(path, " is not a regular file"));
    return std::make_unique<PosixReadableFile>(path, fd.Release());
  }

  absl::Status Rename(const std::string& from, const std::string& to) override {
    if (::rename(from.c_str(), to.c_str()) != 0) return ErrnoStatus(errno, "cannot rename to", to);
    return absl::OkStatus();
  }

  absl::Status Remove(const std::string& path) override {
    if (::unlink(path.c_str()) != 0) return ErrnoStatus(errno, "cannot remove", path);
    return absl::OkStatus();
  }

  absl::Status CreateFolder(const std::string& path) override {
    if (::mkdir(path.c_str(), 0700) == 0) {
      if (!group_) return absl::OkStatus();
      const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      return fd.get() < 0 ? ErrnoStatus(errno, "cannot open folder", path) : Share(fd.get(), 0750, path);
    }
    const int error = errno;
    if (error != EEXIST) return ErrnoStatus(error, "cannot create folder", path);
    struct stat info;
    if (::stat(path.c_str(), &info) != 0) return ErrnoStatus(errno, "cannot stat", path);
    if (!S_ISDIR(info.st_mode)) return absl::AlreadyExistsError(absl::StrCat(path, " is there and is not a folder"));
    return absl::OkStatus();
  }

  absl::Status SyncDir(const std::string& path) override {
    UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (fd.get() < 0) return ErrnoStatus(errno, "cannot open folder", path);
    if (::fsync(fd.get()) != 0) return ErrnoStatus(errno, "cannot sync folder", path);
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<std::string>> List(const std::string& path) override {
    DIR* dir = ::opendir(path.c_str());
    if (dir == nullptr) return ErrnoStatus(errno, "cannot list", path);
    std::vector<std::string> names;
    errno = 0;
    while (const dirent* entry = ::readdir(dir)) {
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") names.emplace_back(name);
    }
    const int error = errno;
    ::closedir(dir);
    if (error != 0) return ErrnoStatus(error, "cannot list", path);
    std::sort(names.begin(), names.end());
    return names;
  }

  absl::StatusOr<FileInfo> Stat(const std::string& path) override {
    struct stat info;
    if (::stat(path.c_str(), &info) != 0) return ErrnoStatus(errno, "cannot stat", path);
    return FileInfo{.size = info.st_size,
                    .modified = static_cast<double>(info.st_mtim.tv_sec) + 1e-9 * info.st_mtim.tv_nsec,
                    .is_folder = S_ISDIR(info.st_mode)};
  }

  absl::Status Touch(const std::string& path) override {
    if (::utimensat(AT_FDCWD, path.c_str(), nullptr, 0) != 0) return ErrnoStatus(errno, "cannot touch", path);
    return absl::OkStatus();
  }

 private:
  // Lets the group read a new file or folder. The mode is set after creation, because the umask limits the mode that is
  // passed to open() or mkdir().
  absl::Status Share(int fd, mode_t mode, const std::string& path) const {
    if (!group_ || (::fchown(fd, static_cast<uid_t>(-1), *group_) == 0 && ::fchmod(fd, mode) == 0)) {
      return absl::OkStatus();
    }
    return ErrnoStatus(errno, "cannot give the group", path);
  }

  const std::optional<gid_t> group_;
};

}  // namespace

FileSystem* PosixFileSystem() {
  static PosixFiles* files = new PosixFiles(std::nullopt);
  return files;
}

FileSystem* NewGroupFileSystem(gid_t group) { return new PosixFiles(group); }

}  // namespace rekindle::common
