// Owns a file descriptor.
#ifndef REKINDLE_COMMON_FILES_UNIQUE_FD_H_
#define REKINDLE_COMMON_FILES_UNIQUE_FD_H_

#include <unistd.h>

#include <utility>

namespace rekindle::common {

// Closes its file descriptor on destruction, and ignores the error of close(2). It is movable and thread-compatible.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.Release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) {
      Reset();
      fd_ = other.Release();
    }
    return *this;
  }
  ~UniqueFd() { Reset(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  // Returns the descriptor, which the caller owns from then on.
  int Release() { return std::exchange(fd_, -1); }
  void Reset() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_ = -1;
};

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_FILES_UNIQUE_FD_H_
