// Handles descriptors and TCP sockets: ownership, addresses, whole reads and writes with a limit in time.
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

// Says when the blocking calls below give up: at `deadline` (common::SteadySeconds) or once `cancel` is set.
struct WaitLimit {
  double deadline = 0;
  const WakeFd* cancel = nullptr;
};

// Waits until `events` of poll() hold for `fd`. Otherwise it returns DEADLINE_EXCEEDED or CANCELLED.
absl::Status WaitReady(int fd, short events, const WaitLimit& limit);
// Waits at most `seconds` without a descriptor.
absl::Status Pause(double seconds, const WaitLimit& limit);
// ReadFull and WriteFull move all `bytes`. They return UNAVAILABLE if the peer closed the connection.
absl::Status ReadFull(int fd, void* data, size_t bytes, const WaitLimit& limit);
absl::Status WriteFull(int fd, const void* data, size_t bytes, const WaitLimit& limit);

// Listens on "host:port" ("[v6]:port"). Port 0 takes any free port, and `port` is set to the one taken. Returns
// UNAVAILABLE if the port is in use.
absl::StatusOr<UniqueFd> ListenTcp(const std::string& address, int* port);
absl::StatusOr<UniqueFd> ConnectTcp(const std::string& address, const WaitLimit& limit);
// Makes the socket non-blocking, without delay of small packets and without pacing inside a machine.
void TuneStream(int fd);

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_LINKS_SOCKET_H_
