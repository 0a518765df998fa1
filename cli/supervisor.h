// Keeps a fixed set of programs running on this machine: `rekindle up`.
#ifndef REKINDLE_CLI_SUPERVISOR_H_
#define REKINDLE_CLI_SUPERVISOR_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/process.h"

namespace rekindle::cli {

// One program that should run. `group` ties those of a node together.
struct Program {
  std::string name;
  std::vector<std::string> argv;
  std::string log;         // Output is appended to it.
  std::string group;       // Empty: on its own.
  bool essential = false;  // When it dies without being asked, its whole group is gone, as a machine would be.
};

// A group whose essential program dies is treated as a machine that vanished: what is left of it is killed, its folder
// <root>/nodes/<group> is wiped, and all of it starts afresh. One that ends with exit code 0 was drained and stays out.
// Everything else is restarted as it is.
// Thread-compatible. Children get SIGTERM when this process dies.
class Supervisor {
 public:
  explicit Supervisor(std::string root) : root_(std::move(root)) {}

  absl::Status Start(const Program& program);
  // Restarts what dies until SIGTERM or SIGINT arrives on `signal_fd`; then stops everything in order: nodes first
  // (they drain), then the rest. A second signal kills.
  absl::Status RunUntilSignal(int signal_fd);

 private:
  struct Running {
    Program program;
    std::optional<common::Process> process;
    double started_at = 0;
    double restart_at = 0;
    double backoff = 0;
  };

  absl::Status Launch(Running& running);
  void HandleExit(Running& running, double now);
  void LoseGroup(const std::string& group, double now);
  void RestartDue(double now);
  void Shutdown(int signal_fd);
  int NextTimeoutMs(double now) const;

  const std::string root_;
  std::vector<Running> running_;
};

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_SUPERVISOR_H_
