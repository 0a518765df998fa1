// Handles descriptors and TCP sockets: ownership, addresses, whole reads and writes with a time limit.
#ifndef REKINDLE_WORKER_COMM_LINKS_SOCKET_H_
#define REKINDLE_WORKER_COMM_LINKS_SOCKET_H_

#include <atomic>
#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/files/unique_fd.h"

namespace rekindle::comm {

using common::UniqueFd;

// Wraps an eventfd, a flag that poll() can wait for. The class is thread-safe.
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

// Limits a blocking call: it gives up at `deadline` (common::SteadySeconds) or once `cancel` is set.
struct WaitLimit {
  double deadline = 0;
  const WakeFd* cancel = nullptr;
};

// Waits until poll() reports `events` for `fd`. Returns DEADLINE_EXCEEDED or CANCELLED if `limit` ends the wait first.
absl::Status WaitReady(int fd, short events, const WaitLimit& limit);
// Waits for `seconds`, or until `limit` ends the wait.
absl::Status Pause(double seconds, const WaitLimit& limit);
// ReadFull and WriteFull move all `bytes`, or fail. They return UNAVAILABLE if the peer closed the connection.
absl::Status ReadFull(int fd, void* data, size_t bytes, const WaitLimit& limit);
absl::Status WriteFull(int fd, const void* data, size_t bytes, const WaitLimit& limit);

// Opens a TCP listener on "host:port" ("[v6]:port"). Port 0 takes any free port, and `port` is set to the one taken.
// Returns UNAVAILABLE if the port is in use.
absl::StatusOr<UniqueFd> ListenTcp(const std::string& address, int* port);
absl::StatusOr<UniqueFd> ConnectTcp(const std::string& address, const WaitLimit& limit);
// Makes a stream socket non-blocking, without a delay of small packets, and without pacing if both ends are on this
// machine.
void TuneStream(int fd);

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_LINKS_SOCKET_H_
