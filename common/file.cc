#include "common/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <optional>
#include <random>

#include "absl/strings/str_cat.h"
#include "common/direct_read.h"

namespace rekindle::common {
namespace {

constexpr char kTemporaryMark[] = ".tmp-";

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

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

  absl::Status Sync() override {
    if (::fdatasync(fd_.get()) != 0) return ErrnoStatus(errno, "cannot sync", path_);
    return absl::OkStatus();
  }

  absl::Status Close() override {
    if (::close(fd_.release()) != 0) return ErrnoStatus(errno, "cannot close", path_);
    return absl::OkStatus();
  }

 private:
  // Past the page cache or through it, from here on. Returns which.
  bool SetDirect(bool wanted) {
    wanted = wanted && can_direct_ && IsBlocks(size_);
    if (wanted != direct_ && ::fcntl(fd_.get(), F_SETFL, wanted ? O_DIRECT : 0) == 0) direct_ = wanted;
    return wanted && direct_;
  }

  const std::string path_;
  Descriptor fd_;
  uint64_t size_ = 0;
  bool can_direct_ = true;  // Not every file system can.
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
  Descriptor fd_;
  DirectReader direct_;
};

class PosixFiles : public FileSystem {
 public:
  // `group`: whose members may read what is created.
  explicit PosixFiles(std::optional<gid_t> group) : group_(group) {}

  absl::StatusOr<std::unique_ptr<WritableFile>> Create(const std::string& path) override {
    Descriptor fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (fd.get() < 0) return ErrnoStatus(errno, "cannot create", path);
    if (absl::Status shared = Share(fd.get(), 0640, path); !shared.ok()) return shared;
    return std::make_unique<PosixWritableFile>(path, fd.release());
  }

  absl::StatusOr<std::unique_ptr<ReadableFile>> Open(const std::string& path) override {
    // Not blocking, so that a FIFO in the store cannot hang a reader.
    Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (fd.get() < 0) return ErrnoStatus(errno, "cannot open", path);
    struct stat info;
    if (::fstat(fd.get(), &info) != 0) return ErrnoStatus(errno, "cannot stat", path);
    if (!S_ISREG(info.st_mode)) return absl::InvalidArgumentError(absl::StrCat(path, " is not a regular file"));
    return std::make_unique<PosixReadableFile>(path, fd.release());
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
      const Descriptor fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
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
    Descriptor fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
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
  // Afterwards, as a mode that is given to open() or mkdir() is cut by the umask.
  absl::Status Share(int fd, mode_t mode, const std::string& path) const {
    if (!group_ || (::fchown(fd, static_cast<uid_t>(-1), *group_) == 0 && ::fchmod(fd, mode) == 0)) {
      return absl::OkStatus();
    }
    return ErrnoStatus(errno, "cannot give the group", path);
  }

  const std::optional<gid_t> group_;
};

}  // namespace

void FreeBlocks::operator()(uint8_t* memory) const { ::operator delete (memory, std::align_val_t{kBlockBytes}); }

Blocks NewBlocks(size_t bytes) {
  return Blocks(static_cast<uint8_t*>(::operator new (bytes, std::align_val_t{kBlockBytes})));
}

FileSystem* PosixFileSystem() {
  static PosixFiles* files = new PosixFiles(std::nullopt);
  return files;
}

FileSystem* NewGroupFileSystem(gid_t group) { return new PosixFiles(group); }

absl::Status ErrnoStatus(int error, std::string_view what, std::string_view path) {
  std::string message(what);
  absl::StrAppend(&message, " ", std::string(path), ": ", std::string(std::strerror(error)));
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return absl::NotFoundError(message);
    case EEXIST:
      return absl::AlreadyExistsError(message);
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::PermissionDeniedError(message);
    case ENOSPC:
    case EDQUOT:
    case ENOMEM:
    case EMFILE:
    case ENFILE:
      return absl::ResourceExhaustedError(message);
    default:
      return absl::InternalError(message);
  }
}

std::string DirName(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string BaseName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

absl::StatusOr<std::string> ReadFile(FileSystem& fs, const std::string& path, size_t limit) {
  auto file = fs.Open(path);
  if (!file.ok()) return file.status();
  const auto size = (*file)->Size();
  if (!size.ok()) return size.status();
  if (static_cast<uint64_t>(*size) > limit) {
    return absl::OutOfRangeError(absl::StrCat(path, " has ", *size, " bytes, more than the ", limit, " allowed"));
  }
  std::string content(static_cast<size_t>(*size), '\0');
  const auto got = (*file)->ReadAt(0, content.data(), content.size());
  if (!got.ok()) return got.status();
  content.resize(*got);
  return content;
}

absl::Status CreateFolders(FileSystem& fs, const std::string& path) {
  const auto info = fs.Stat(path);
  if (info.ok()) {
    return info->is_folder ? absl::OkStatus()
                           : absl::AlreadyExistsError(absl::StrCat(path, " is there and is not a folder"));
  }
  if (!absl::IsNotFound(info.status())) return info.status();
  const std::string parent = DirName(path);
  if (parent != path) {
    if (absl::Status status = CreateFolders(fs, parent); !status.ok()) return status;
  }
  if (absl::Status status = fs.CreateFolder(path); !status.ok()) return status;
  return fs.SyncDir(parent);
}

std::string TemporaryName(const std::string& path) {
  static const unsigned process = std::random_device{}();
  static std::atomic<unsigned> counter{0};
  return absl::StrCat(path, kTemporaryMark, absl::Hex(process, absl::kZeroPad8), "-", ++counter);
}

bool IsTemporaryName(std::string_view name) { return name.find(kTemporaryMark) != std::string_view::npos; }

absl::Status WriteFileAtomic(FileSystem& fs, const std::string& path, std::string_view content) {
  const std::string temporary = TemporaryName(path);
  auto write = [&]() -> absl::Status {
    auto file = fs.Create(temporary);
    if (!file.ok()) return file.status();
    absl::Status status = (*file)->Append(content.data(), content.size());
    if (status.ok()) status = (*file)->Sync();
    const absl::Status closed = (*file)->Close();
    if (status.ok()) status = closed;
    if (status.ok()) status = fs.Rename(temporary, path);
    return status;
  };
  if (absl::Status status = write(); !status.ok()) {
    fs.Remove(temporary).IgnoreError();
    return status;
  }
  return fs.SyncDir(DirName(path));
}

}  // namespace rekindle::common
