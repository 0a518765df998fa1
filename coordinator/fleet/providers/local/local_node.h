// This file runs a node on this computer: a folder, and the programs that a machine of its own would run. `rekindle up`
// and the local provider start and end nodes in the same way.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_LOCAL_LOCAL_NODE_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_LOCAL_LOCAL_NODE_H_

#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/process/process.h"

namespace rekindle::fleet {

struct LocalNode {
  // `folder` is an absolute path.
  std::string folder;
  // `name` is the name under which the node registers.
  std::string name;
  // `coordinator` has the form host:port.
  std::string coordinator;
  // `pool` is empty where the node is in no pool.
  std::string pool;
  // `memory` is the number of bytes for the node's trainers.
  double memory = 0;
  // `shared_memory` is the node's own folder for shared memory. An empty one means the default of the checkpoint
  // service.
  std::string shared_memory;
  // Where `notice_file` is empty, the node learns only of the real machine's notices.
  std::string notice_file;
  // `programs` is the folder of the programs. An empty one means that they are beside this program.
  std::string programs;
};

// Both functions return command lines, of the node's `rekindle-checkpoint` and of its `rekindle-worker init`.
std::vector<std::string> CheckpointCommand(const LocalNode& node);
std::vector<std::string> WorkerCommand(const LocalNode& node);

// Returns the folder of this program and of the programs that belong to it.
std::filesystem::path Beside();

// Makes a folder that only this user can access. Returns FAILED_PRECONDITION where that is impossible.
absl::Status MakeFolder(const std::filesystem::path& path);

// Starts a program in its own session, with our environment. Its output is appended to `log`. It gets the signal
// `parent_death_signal` when this thread ends. Where that is 0, it outlives us.
absl::StatusOr<common::Process> StartProgram(const std::vector<std::string>& argv, const std::string& log,
                                             int parent_death_signal);

// Returns the processes that have `folder` among their arguments, which are what is left of a node.
std::vector<pid_t> ProcessesOf(const std::string& folder);
// Returns the process of the node whose first argument is `argument`. That is "init" for the worker and "--dir" for the
// checkpoint service. Returns NOT_FOUND where none runs.
absl::StatusOr<common::Process> FindProgram(const std::string& folder, const std::string& argument);

// This link in a node's folder leads to its shared memory, where that is a folder of its own.
inline constexpr char kSharedMemoryLink[] = "shm";

// Lets the node vanish as a machine does. It kills all its processes, and removes its folder and the folder that the
// link leads to.
void KillNode(const std::string& folder);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_LOCAL_LOCAL_NODE_H_
