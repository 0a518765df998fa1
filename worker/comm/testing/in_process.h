// Makes communicators for tests whose ranks are threads of one process, with faults on demand.
//
// The collectives, the monitor and the control frames are those of the host transport. Only the way in which the ranks
// are connected is simpler (memory, and socket pairs).
#ifndef REKINDLE_WORKER_COMM_TESTING_IN_PROCESS_H_
#define REKINDLE_WORKER_COMM_TESTING_IN_PROCESS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "worker/comm/contract/communicator.h"

namespace rekindle::comm {

// Causes faults at ranks. A test makes an InProcessFaults, passes it to MakeInProcess(), and keeps it until the
// communicators are gone. The class is thread-safe.
class InProcessFaults {
 public:
  InProcessFaults();
  ~InProcessFaults();

  // Closes the rank's connections without notice, as when its process is killed.
  void Kill(int rank);
  // Stops the threads of the rank's communicator until Thaw(), as when its process is stopped. A frozen rank must be
  // thawed before its communicator is destroyed.
  void Freeze(int rank);
  void Thaw(int rank);

  // KillAfter and FreezeAfter act like Kill and Freeze once the rank has moved `bytes` more through its links, sent and
  // received together.
  void KillAfter(int rank, uint64_t bytes);
  void FreezeAfter(int rank, uint64_t bytes);
  // Calls `action` on the communicator's thread once the rank has moved `bytes` more through its links.
  void CallAfter(int rank, uint64_t bytes, std::function<void()> action);
  // Lets every `bytes` that the rank moves take `seconds` longer.
  void Slow(int rank, uint64_t bytes, double seconds);

  struct Impl;
  const std::shared_ptr<Impl>& impl() const { return impl_; }

 private:
  std::shared_ptr<Impl> impl_;
};

struct InProcessOptions {
  // If `sockets` is set, data goes through socket pairs instead of memory.
  bool sockets = false;
  // `ring_bytes` is the size of each ring in memory between two ranks. It must be a power of two.
  size_t ring_bytes = 256 << 10;
  InProcessFaults* faults = nullptr;
  // `on_error` works like HostOptions::on_error and also gets the rank that failed.
  std::function<void(int rank, const absl::Status&, const std::vector<Accusation>&)> on_error;
  // `held_up` works like HostOptions::held_up and also gets the rank that is asked.
  std::function<bool(int rank)> held_up;
};

// Returns `world_size` connected communicators, indexed by rank.
std::vector<std::unique_ptr<Communicator>> MakeInProcess(int world_size, int generation, Deadlines deadlines,
                                                         const InProcessOptions& options = {});

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_TESTING_IN_PROCESS_H_
