#include "common/memory/shared_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/files/file.h"

namespace rekindle::common {
namespace {

absl::Status Fill(int fd, const std::string& path, size_t bytes) {
  int error;
  do {
    error = ::posix_fallocate(fd, 0, static_cast<off_t>(bytes));
  } while (error == EINTR);
  if (error == 0) return absl::OkStatus();
  if (error == ENOSPC) {
    return absl::ResourceExhaustedError(absl::StrCat(DirName(path), " has no room for ", bytes,
                                                     " bytes of shared memory: make it larger, or free some of it"));
  }
  return ErrnoStatus(error, "cannot allocate shared memory", path);
}

// Creates a new segment of shared memory, allocates all its pages, and returns its open descriptor.
absl::StatusOr<int> CreateDescriptor(const std::string& path, size_t bytes) {
  if (bytes == 0) return absl::InvalidArgumentError(absl::StrCat("shared memory of 0 bytes at ", path));
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) return ErrnoStatus(errno, "cannot create shared memory", path);
  absl::Status filled = Fill(fd, path, bytes);
  if (filled.ok()) return fd;
  ::close(fd);
  ::unlink(path.c_str());
  return filled;
}

}  // namespace

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      device_(other.device_),
      inode_(other.inode_) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(device_, other.device_);
  std::swap(inode_, other.inode_);
  return *this;
}

SharedMemory::~SharedMemory() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

absl::StatusOr<SharedMemory> SharedMemory::MapDescriptor(int fd, const std::string& path, size_t bytes, Access access) {
  const int protection = access == Access::kRead ? PROT_READ : PROT_READ | PROT_WRITE;
  void* data = ::mmap(nullptr, bytes, protection, MAP_SHARED | MAP_POPULATE, fd, 0);
  if (data == MAP_FAILED) return ErrnoStatus(errno, "cannot map", path);
  SharedMemory memory(static_cast<uint8_t*>(data), bytes);
  struct stat info;
  if (::fstat(fd, &info) != 0) return ErrnoStatus(errno, "cannot stat", path);
  memory.device_ = info.st_dev;
  memory.inode_ = info.st_ino;
  return memory;
}

std::optional<size_t> SharedMemory::SizeOfFile(const std::string& path) const {
  struct stat info;
  if (data_ == nullptr || ::lstat(path.c_str(), &info) != 0) return std::nullopt;
  if (info.st_dev != device_ || info.st_ino != inode_) return std::nullopt;
  return static_cast<size_t>(info.st_size);
}

bool SharedMemory::IsOf(const std::string& path) const { return SizeOfFile(path).has_value(); }

bool SharedMemory::IsAllOf(const std::string& path) const { return SizeOfFile(path) == size_; }

absl::StatusOr<SharedMemory> SharedMemory::Create(const std::string& path, size_t bytes) {
  const auto fd = CreateDescriptor(path, bytes);
  if (!fd.ok()) return fd.status();
  auto memory = MapDescriptor(*fd, path, bytes, Access::kReadWrite);
  ::close(*fd);
  if (!memory.ok()) ::unlink(path.c_str());
  return memory;
}

absl::StatusOr<SharedMemory> SharedMemory::Map(const std::string& path, size_t bytes, Access access) {
  const int mode = access == Access::kRead ? O_RDONLY : O_RDWR;
  const int fd = ::open(path.c_str(), mode | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return ErrnoStatus(errno, "cannot open shared memory", path);
  struct stat info;
  absl::StatusOr<SharedMemory> memory;
  if (::fstat(fd, &info) != 0) {
    memory = ErrnoStatus(errno, "cannot stat", path);
  } else if (bytes == 0 || !S_ISREG(info.st_mode) || static_cast<size_t>(info.st_size) != bytes) {
    memory = absl::InvalidArgumentError(
        absl::StrCat(path, " is not a segment of ", bytes, " bytes: its size is ", info.st_size));
  } else {
    memory = MapDescriptor(fd, path, bytes, access);
  }
  ::close(fd);
  return memory;
}

absl::Status CreateSharedMemory(const std::string& path, size_t bytes) {
  const auto fd = CreateDescriptor(path, bytes);
  if (!fd.ok()) return fd.status();
  ::close(*fd);
  return absl::OkStatus();
}

absl::Status ResizeSharedMemory(const std::string& path, size_t bytes) {
  const int fd = ::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return ErrnoStatus(errno, "cannot open shared memory", path);
  struct stat info;
  absl::Status status;
  if (::fstat(fd, &info) != 0) {
    status = ErrnoStatus(errno, "cannot stat", path);
  } else if (static_cast<size_t>(info.st_size) < bytes) {
    status = Fill(fd, path, bytes);
  } else if (::ftruncate(fd, static_cast<off_t>(bytes)) != 0) {
    status = ErrnoStatus(errno, "cannot shrink", path);
  }
  ::close(fd);
  return status;
}

absl::Status RemoveSharedMemory(const std::string& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return ErrnoStatus(errno, "cannot remove", path);
  return absl::OkStatus();
}

}  // namespace rekindle::common
