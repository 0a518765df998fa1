// Wakes a thread that polls descriptors. Thread-safe.
#ifndef REKINDLE_WORKER_AGENT_WAKER_H_
#define REKINDLE_WORKER_AGENT_WAKER_H_

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

#include "common/process.h"

namespace rekindle::agent {

class Waker {
 public:
  Waker() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!fd_.valid()) std::abort();
  }
  int fd() const { return fd_.get(); }  // Readable after Wake().
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

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_WAKER_H_
