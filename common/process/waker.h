// Wakes a thread that polls descriptors. It is thread-safe.
#ifndef REKINDLE_COMMON_PROCESS_WAKER_H_
#define REKINDLE_COMMON_PROCESS_WAKER_H_

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

#include "common/check/check.h"
#include "common/process/process.h"

namespace rekindle::common {

class Waker {
 public:
  Waker() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    Check(fd_.valid(), "the process may open one more descriptor");
  }
  // Returns a descriptor that is readable after Wake().
  int fd() const { return fd_.get(); }
  void Wake() const {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t ignored = write(fd_.get(), &one, sizeof one);
  }
  void Clear() const {
    uint64_t count;
    [[maybe_unused]] const ssize_t ignored = read(fd_.get(), &count, sizeof count);
  }

 private:
  common::UniqueFd fd_;
};

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_PROCESS_WAKER_H_
