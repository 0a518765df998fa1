// Keeps a fixed set of programs running on this machine for `rekindle up`.
#ifndef REKINDLE_CLI_LOCAL_PROGRAM_SUPERVISOR_H_
#define REKINDLE_CLI_LOCAL_PROGRAM_SUPERVISOR_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/process/process.h"

namespace rekindle::cli {

// Describes one program that should run. The programs of one node have the same `group`.
struct Program {
  std::string name;
  std::vector<std::string> argv;
  // The output of the program is appended to the file `log`.
  std::string log;
  // `group` is empty if the program belongs to no group.
  std::string group;
  // If an essential program dies without being asked to, its whole group is lost, as a machine would be.
  bool essential = false;
};

// Restarts programs that die. If the essential program of a group dies, the group is treated as a machine that
// vanished: the rest of it is killed, its folder <root>/nodes/<group> is wiped, and all of it starts again. A group
// whose essential program ends with exit code 0 was drained and is not restarted. Every other program is restarted as
// it is. The class is thread-compatible. The programs get SIGTERM when `rekindle up` dies.
class ProgramSupervisor {
 public:
  explicit ProgramSupervisor(std::string root) : root_(std::move(root)) {}

  absl::Status Start(const Program& program);
  // Restarts programs that die until SIGTERM or SIGINT arrives on `signal_fd`. Then it stops all programs in order:
  // first those of nodes, which drain, and then the rest. A second signal kills them.
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

#endif  // REKINDLE_CLI_LOCAL_PROGRAM_SUPERVISOR_H_
