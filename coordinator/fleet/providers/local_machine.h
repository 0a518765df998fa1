// The processes of one local machine: its worker, and its checkpoint service, which is restarted as a unit would be.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_LOCAL_MACHINE_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_LOCAL_MACHINE_H_

#include <poll.h>
#include <signal.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/process.h"
#include "coordinator/fleet/providers/local_node.h"

namespace rekindle::fleet {

// Thread-compatible. `now`: common::SteadySeconds. Destroying it leaves the processes as they are.
class MachineProcesses {
 public:
  // `log`: its files begin with this. Makes the folders.
  static absl::StatusOr<MachineProcesses> Start(const LocalNode& node, const std::string& log, double now);
  // Of a machine that an earlier process has started; NOT_FOUND where no worker runs.
  static absl::StatusOr<MachineProcesses> Find(const LocalNode& node, const std::string& log);

  // SIGTERM to the worker, as a machine's shutdown sends.
  void Stop() const { (void)worker_.Signal(SIGTERM); }
  // Kills both by handle: what has just been started is not known by its arguments yet. KillNode does the rest.
  void Kill();
  // Restarts the checkpoint service where it has died; when to look again.
  double Tend(double now);
  // Seconds for which the worker ran, once it has ended; infinity of one that was found.
  std::optional<double> Ended(double now) const;
  // Something is to be done when one of these is readable.
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

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_LOCAL_MACHINE_H_
