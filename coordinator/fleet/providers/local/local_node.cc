#include "coordinator/fleet/providers/local/local_node.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "absl/strings/match.h"
#include "common/process/command.h"

namespace rekindle::fleet {
namespace {

// The kernel has `kKillMilliseconds` milliseconds to end a process that was killed.
constexpr int kKillMilliseconds = 2000;
constexpr char kSharedMemory[] = "/dev/shm/rekindle-";
// KillNode looks up to `kMostRounds` times for processes of the node that were started meanwhile.
constexpr int kMostRounds = 10;

// Returns the arguments of a process, each followed by a zero byte. The result is empty when the process is gone or a
// zombie.
std::string ArgumentsOf(pid_t pid) {
  const common::UniqueFd fd(open(("/proc/" + std::to_string(pid) + "/cmdline").c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return "";
  std::string text(1 << 14, '\0');
  const ssize_t got = read(fd.get(), text.data(), text.size());
  text.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return text;
}

std::string Program(const LocalNode& node, const char* name) {
  return (node.programs.empty() ? Beside() : std::filesystem::path(node.programs)) / name;
}

}  // namespace

std::filesystem::path Beside() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
}

absl::Status MakeFolder(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!error) std::filesystem::permissions(path, std::filesystem::perms::owner_all, error);
  if (error) return absl::FailedPreconditionError("cannot make the folder " + path.string() + ": " + error.message());
  return absl::OkStatus();
}

std::vector<std::string> CheckpointCommand(const LocalNode& node) {
  std::vector<std::string> argv = {Program(node, "rekindle-checkpoint"), "--dir", node.folder};
  if (!node.shared_memory.empty()) argv.insert(argv.end(), {"--shm-dir", node.shared_memory});
  return argv;
}

std::vector<std::string> WorkerCommand(const LocalNode& node) {
  std::vector<std::string> argv = {Program(node, "rekindle-worker"),
                                   "init",
                                   "--dir",
                                   node.folder,
                                   "--coordinator",
                                   node.coordinator,
                                   "--node",
                                   node.name,
                                   "--memory",
                                   std::to_string(static_cast<int64_t>(node.memory))};
  if (!node.python.empty()) argv.insert(argv.end(), {"--python", node.python});
  if (!node.allow_code.empty()) argv.insert(argv.end(), {"--allow-code", node.allow_code});
  if (!node.pool.empty()) argv.insert(argv.end(), {"--pool", node.pool});
  if (!node.notice_file.empty()) argv.insert(argv.end(), {"--notices", "file", "--notice-file", node.notice_file});
  return argv;
}

absl::StatusOr<common::Process> StartProgram(const std::vector<std::string>& argv, const std::string& log,
                                             int parent_death_signal) {
  const common::UniqueFd output(open(log.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
  if (!output.valid()) return common::ErrnoError("open " + log);
  common::SpawnOptions options;
  options.argv = argv;
  options.environment = common::OwnEnvironment();
  options.output_fd = output.get();
  options.new_session = true;
  options.parent_death_signal = parent_death_signal;
  auto child = common::PendingChild::Start(options);
  if (!child.ok()) return child.status();
  auto process = common::Process::Open(child->identity());
  if (process.ok()) child->Release();
  return process;
}

std::vector<pid_t> ProcessesOf(const std::string& folder) {
  std::vector<pid_t> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const pid_t pid = std::stoi(name);
    if (('\0' + ArgumentsOf(pid)).find('\0' + folder + '\0') != std::string::npos) found.push_back(pid);
  }
  return found;
}

absl::StatusOr<common::Process> FindProgram(const std::string& folder, const std::string& argument) {
  for (const pid_t pid : ProcessesOf(folder)) {
    const std::string arguments = ArgumentsOf(pid);
    const size_t first = arguments.find('\0') + 1;
    if (arguments.compare(first, argument.size() + 1, argument + '\0') != 0) continue;
    const auto identity = common::Identify(pid);
    if (identity.ok() && identity->Alive()) return common::Process::Open(*identity);
  }
  return absl::NotFoundError("no such program runs in " + folder);
}

void KillNode(const std::string& folder) {
  for (int round = 0; round < kMostRounds; ++round) {
    const std::vector<pid_t> left = ProcessesOf(folder);
    if (left.empty()) break;
    std::vector<common::Process> killed;
    for (const pid_t pid : left) {
      const auto identity = common::Identify(pid);
      if (!identity.ok()) continue;
      auto process = common::Process::Open(*identity);
      if (process.ok() && process->Signal(SIGKILL).ok()) killed.push_back(*std::move(process));
    }
    for (const common::Process& process : killed) {
      pollfd wait = {.fd = process.fd(), .events = POLLIN, .revents = 0};
      poll(&wait, 1, kKillMilliseconds);
      // Reap has no effect on processes that are not children of this process.
      (void)process.Reap();
    }
  }
  std::error_code error;
  const std::string shared = std::filesystem::read_symlink(folder + "/" + kSharedMemoryLink, error);
  if (absl::StartsWith(shared, kSharedMemory)) std::filesystem::remove_all(shared, error);
  std::filesystem::remove_all(folder, error);
}

}  // namespace rekindle::fleet
