#include "common/process/command.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/time/clock.h"

namespace rekindle::common {
namespace {

int Milliseconds(double until) {
  if (std::isinf(until)) return -1;
  return static_cast<int>(std::max(0.0, std::ceil((until - SteadySeconds()) * 1000)));
}

// Returns what the command wrote until its end, the limit of bytes or the time `until`.
std::string ReadUntil(int fd, size_t limit, double until) {
  std::string text;
  char part[4096];
  while (text.size() < limit) {
    pollfd p = {.fd = fd, .events = POLLIN, .revents = 0};
    if (poll(&p, 1, Milliseconds(until)) != 1) break;
    const ssize_t bytes = read(fd, part, std::min(sizeof part, limit - text.size()));
    if (bytes <= 0) break;
    text.append(part, static_cast<size_t>(bytes));
  }
  return text;
}

// A process that was sent SIGKILL has `kKillSeconds` to end.
constexpr double kKillSeconds = 5;

bool AwaitEnd(const Process& process, double until) {
  pollfd p = {.fd = process.fd(), .events = POLLIN, .revents = 0};
  return poll(&p, 1, Milliseconds(until)) == 1;
}

}  // namespace

std::vector<std::string> OwnEnvironment() {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) environment.push_back(*entry);
  return environment;
}

absl::StatusOr<CommandResult> RunToEnd(const CommandOptions& options) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return ErrnoError("cannot make a pipe");
  UniqueFd output(ends[0]), input(ends[1]);
  const UniqueFd nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  SpawnOptions spawn;
  spawn.argv = options.argv;
  spawn.environment = options.environment;
  spawn.input_fd = nothing.get();
  spawn.output_fd = input.get();
  spawn.keep_stderr = options.keep_stderr;
  spawn.new_group = true;
  spawn.parent_death_signal = SIGKILL;
  if (options.confine) options.confine(&spawn);
  absl::StatusOr<PendingChild> child = PendingChild::Start(spawn);
  if (!child.ok()) return child.status();
  const absl::StatusOr<Process> process = Process::Open(child->identity());
  child->Release();
  if (!process.ok()) return process.status();
  input.Reset();
  const double until = SteadySeconds() + options.limit_seconds;
  CommandResult result;
  result.output = ReadUntil(output.get(), options.max_bytes, until);
  // This process closes its end of the pipe, so that a command that never stops printing gets SIGPIPE and ends.
  output.Reset();
  const bool ended = AwaitEnd(*process, until);
  // The whole process group is killed before its pid can be reused, because processes that the command started may
  // still run.
  kill(-process->identity().pid, SIGKILL);
  // A process that hangs in a driver may not end even when it is killed. It is left to itself then.
  if (!ended && !AwaitEnd(*process, SteadySeconds() + kKillSeconds)) {
    return absl::DeadlineExceededError(absl::StrCat("the command did not end in ", options.limit_seconds,
                                                    " s, and does not end although it was killed"));
  }
  const absl::StatusOr<ExitStatus> status = process->Reap();
  if (!ended)
    return absl::DeadlineExceededError(absl::StrCat("the command did not end in ", options.limit_seconds, " s"));
  if (!status.ok()) return status.status();
  result.status = *status;
  return result;
}

absl::StatusOr<std::string> RunCommand(const CommandOptions& options) {
  absl::StatusOr<CommandResult> run = RunToEnd(options);
  if (!run.ok()) return run.status();
  if (run->status.code == 0) return std::move(run->output);
  return absl::UnavailableError(absl::StrCat("the command ended with ", run->status.ToString()));
}

}  // namespace rekindle::common
