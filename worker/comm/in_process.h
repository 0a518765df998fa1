// Communicators whose ranks are threads of one process, with faults on demand: for tests.
//
// The engine, the monitor and the control frames are those of the host transport; only the way the ranks are connected
// is simpler (memory, and socket pairs).
#ifndef REKINDLE_WORKER_COMM_IN_PROCESS_H_
#define REKINDLE_WORKER_COMM_IN_PROCESS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "worker/comm/communicator.h"

namespace rekindle::comm {

// What can befall a rank. Make one, pass it to MakeInProcess(), keep it until the communicators are gone. Thread-safe.
class InProcessFaults {
 public:
  InProcessFaults();
  ~InProcessFaults();

  // Its connections close without a word, as when its process is killed.
  void Kill(int rank);
  // Its communicator's threads stand still, as when its process is stopped, until Thaw(). Thaw before destruction.
  void Freeze(int rank);
  void Thaw(int rank);

  // The same, once the rank has moved `bytes` (sent and received together, from now on) through its links.
  void KillAfter(int rank, uint64_t bytes);
  void FreezeAfter(int rank, uint64_t bytes);
  // Calls `action` then, on the communicator's thread.
  void CallAfter(int rank, uint64_t bytes, std::function<void()> action);
  // Every `bytes` moved by the rank take `seconds` longer.
  void Slow(int rank, uint64_t bytes, double seconds);

  struct Impl;
  const std::shared_ptr<Impl>& impl() const { return impl_; }

 private:
  std::shared_ptr<Impl> impl_;
};

struct InProcessOptions {
  bool sockets = false;           // Data through socket pairs instead of memory.
  size_t ring_bytes = 256 << 10;  // A power of two.
  InProcessFaults* faults = nullptr;
  // As HostOptions::on_error, with the rank it befell.
  std::function<void(int rank, const absl::Status&, const std::vector<Accusation>&)> on_error;
};

// `world_size` connected communicators, indexed by rank.
std::vector<std::unique_ptr<Communicator>> MakeInProcess(int world_size, int generation, Deadlines deadlines,
                                                         const InProcessOptions& options = {});

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_IN_PROCESS_H_
