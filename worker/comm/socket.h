// Descriptors and TCP sockets: ownership, addresses, whole reads and writes with a limit in time.
#ifndef REKINDLE_WORKER_COMM_SOCKET_H_
#define REKINDLE_WORKER_COMM_SOCKET_H_

#include <atomic>
#include <cstddef>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rekindle::comm {

// Owns a descriptor. Movable.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~UniqueFd();

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  void Reset() { *this = UniqueFd(); }

 private:
  int fd_ = -1;
};

// An eventfd: a flag that poll() can wait for. Thread-safe.
class WakeFd {
 public:
  WakeFd();
  int get() const { return fd_.get(); }
  void Set();
  void Clear();
  bool IsSet() const;

 private:
  UniqueFd fd_;
};

// When blocking calls below give up: at `deadline` (common::SteadySeconds) or once `cancel` is set.
struct WaitLimit {
  double deadline = 0;
  const WakeFd* cancel = nullptr;
};

// Waits until `events` of poll() hold for `fd`. DEADLINE_EXCEEDED or CANCELLED otherwise.
absl::Status WaitReady(int fd, short events, const WaitLimit& limit);
// Waits, without a descriptor, at most `seconds`.
absl::Status Pause(double seconds, const WaitLimit& limit);
// UNAVAILABLE when the peer closed.
absl::Status ReadFull(int fd, void* data, size_t bytes, const WaitLimit& limit);
absl::Status WriteFull(int fd, const void* data, size_t bytes, const WaitLimit& limit);

// Listens on "host:port" ("[v6]:port"); port 0 takes any, `port` tells which. UNAVAILABLE when in use.
absl::StatusOr<UniqueFd> ListenTcp(const std::string& address, int* port);
absl::StatusOr<UniqueFd> ConnectTcp(const std::string& address, const WaitLimit& limit);
// Non-blocking, no delay of small packets, no pacing inside a machine.
void TuneStream(int fd);

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_SOCKET_H_
