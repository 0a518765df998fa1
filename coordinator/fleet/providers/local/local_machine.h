// This file manages the processes of one local machine: its worker, and its checkpoint service, which is restarted when
// it dies.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_LOCAL_LOCAL_MACHINE_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_LOCAL_LOCAL_MACHINE_H_

#include <poll.h>
#include <signal.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/process/process.h"
#include "coordinator/fleet/providers/local/local_node.h"

namespace rekindle::fleet {

// MachineProcesses is thread-compatible. `now` is in common::SteadySeconds. The destructor leaves the processes as they
// are.
class MachineProcesses {
 public:
  // Starts the processes of a new machine and makes its folders. The names of its log files begin with `log`.
  static absl::StatusOr<MachineProcesses> Start(const LocalNode& node, const std::string& log, double now);
  // Finds the processes of a machine that an earlier coordinator has started. Returns NOT_FOUND where no worker runs.
  static absl::StatusOr<MachineProcesses> Find(const LocalNode& node, const std::string& log);

  // Sends SIGTERM to the worker, as a machine's shutdown does.
  void Stop() const { (void)worker_.Signal(SIGTERM); }
  // Kills the worker and the checkpoint service by their handles, because a process that has just been started cannot
  // be found by its arguments yet. The caller must call KillNode for the machine's other processes.
  void Kill();
  // Restarts the checkpoint service where it has died. Returns the time at which Tend has to be called again.
  double Tend(double now);
  // Returns the seconds for which the worker ran, once it has ended. The result is infinite for a worker that Find has
  // found.
  std::optional<double> Ended(double now) const;
  // Adds the file descriptors of the machine's processes to `fds`, which the caller polls. One of them becomes readable
  // when a process has ended.
  void Watch(std::vector<pollfd>* fds) const;

 private:
  MachineProcesses(LocalNode node, std::string log, common::Process worker)
      : node_(std::move(node)), log_(std::move(log)), worker_(std::move(worker)) {}

  LocalNode node_;
  std::string log_;
  common::Process worker_;
  std::optional<double> started_;
  std::optional<common::Process> checkpoint_;
  double restart_at_ = 0;
};

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_LOCAL_LOCAL_MACHINE_H_
