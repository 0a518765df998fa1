// A node on this machine: a folder, and the programs that a machine of its own would run. `rekindle up` and the local
// provider start and end nodes in the same way.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_LOCAL_NODE_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_LOCAL_NODE_H_

#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/process.h"

namespace rekindle::fleet {

struct LocalNode {
  std::string folder;         // Absolute.
  std::string name;           // As which it registers.
  std::string coordinator;    // host:port
  std::string pool;           // Empty: none.
  double memory = 0;          // Bytes for its trainers.
  std::string shared_memory;  // Folder of its own for it; empty: the service's default.
  std::string notice_file;    // Empty: it hears of no notices but those of the machine.
  std::string programs;       // Folder of the programs; empty: beside this one.
};

// Command lines of its `rekindle-checkpoint` and `rekindle-worker init`.
std::vector<std::string> CheckpointCommand(const LocalNode& node);
std::vector<std::string> WorkerCommand(const LocalNode& node);

// Where this program lies, with its siblings.
std::filesystem::path Beside();

// For this user only. FAILED_PRECONDITION where it cannot be made.
absl::Status MakeFolder(const std::filesystem::path& path);

// Starts a program in a session of its own, with our environment and its output appended to `log`. It gets
// `parent_death_signal` when this thread ends; 0: it outlives us.
absl::StatusOr<common::Process> StartProgram(const std::vector<std::string>& argv, const std::string& log,
                                             int parent_death_signal);

// Processes that have `folder` among their arguments: what is left of a node.
std::vector<pid_t> ProcessesOf(const std::string& folder);
// The one whose first argument is this: "init" of its worker, "--dir" of its checkpoint service. NOT_FOUND: none runs.
absl::StatusOr<common::Process> FindProgram(const std::string& folder, const std::string& argument);

// In a node's folder: leads to its shared memory, where that is a folder of its own.
inline constexpr char kSharedMemoryLink[] = "shm";

// As a machine that vanishes: kills all its processes, removes its folder and what that link leads to.
void KillNode(const std::string& folder);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_LOCAL_NODE_H_
