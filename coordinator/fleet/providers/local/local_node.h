// This file runs a node on this computer: a folder, and the programs that run on a real machine. `rekindle up` and the
// local provider start and end nodes in the same way.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_LOCAL_LOCAL_NODE_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_LOCAL_LOCAL_NODE_H_

#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/process/process.h"

namespace rekindle::fleet {

// A worker without the flag --python uses the interpreter that this variable of its environment names.
inline constexpr char kPythonVariable[] = "REKINDLE_NODE_PYTHON";

struct LocalNode {
  // `folder` is the absolute path of the node's folder.
  std::string folder;
  // `name` is the name under which the node registers.
  std::string name;
  // `coordinator` is the coordinator's address, in the form host:port.
  std::string coordinator;
  // `pool` is empty where the node is in no pool.
  std::string pool;
  // `memory` is the number of bytes for the node's trainers.
  double memory = 0;
  // `shared_memory` is the node's own folder for shared memory. An empty one means the default of the checkpoint
  // service.
  std::string shared_memory;
  // `notice_file` is the file by which the node gets preemption notices. Where it is empty, the node learns only of the
  // notices of the machine that it runs on.
  std::string notice_file;
  // `python` is the interpreter for users' own models. If it is empty, that of `kPythonVariable` is used, if any.
  std::string python;
  // `allow_code` is the worker's flag --allow-code. If it is empty, the worker chooses it.
  std::string allow_code;
  // `programs` is the folder of Rekindle's programs. An empty one means the folder of the running program.
  std::string programs;
};

// CheckpointCommand and WorkerCommand return command lines: that of the node's `rekindle-checkpoint`, and that of its
// `rekindle-worker init`.
std::vector<std::string> CheckpointCommand(const LocalNode& node);
std::vector<std::string> WorkerCommand(const LocalNode& node);

// Returns the folder of the running program. Rekindle's other programs are in the same folder.
std::filesystem::path Beside();

// Makes a folder that only this user can access. Returns FAILED_PRECONDITION where that is impossible.
absl::Status MakeFolder(const std::filesystem::path& path);

// Starts a program in its own session, with the environment of this process. Its output is appended to `log`. The
// program gets the signal `parent_death_signal` when the calling thread ends. With 0 instead of a signal, the program
// outlives this process.
absl::StatusOr<common::Process> StartProgram(const std::vector<std::string>& argv, const std::string& log,
                                             int parent_death_signal);

// Returns the processes of a node, which are those that have `folder` among their arguments.
std::vector<pid_t> ProcessesOf(const std::string& folder);
// Returns the process whose first argument is `argument`, among those of the node in `folder`. The argument is "init"
// for the worker and "--dir" for the checkpoint service. Returns NOT_FOUND where no such process runs.
absl::StatusOr<common::Process> FindProgram(const std::string& folder, const std::string& argument);

// A node that has its own folder for shared memory has a link to it, `kSharedMemoryLink`, in the node's folder.
inline constexpr char kSharedMemoryLink[] = "shm";

// Lets a node vanish as a machine does. KillNode kills all its processes, and removes its folder and its folder for
// shared memory.
void KillNode(const std::string& folder);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_LOCAL_LOCAL_NODE_H_
