#include "common/command.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>

#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/process.h"

namespace rekindle::common {
namespace {

int Milliseconds(double until) {
  if (std::isinf(until)) return -1;
  return static_cast<int>(std::max(0.0, std::ceil((until - SteadySeconds()) * 1000)));
}

// What is written until its end, the limit of bytes or the time.
std::string ReadUntil(int fd, double until, size_t max_bytes) {
  std::string text;
  char part[1024];
  while (text.size() < max_bytes) {
    pollfd p = {.fd = fd, .events = POLLIN, .revents = 0};
    if (poll(&p, 1, Milliseconds(until)) != 1) break;
    const ssize_t bytes = read(fd, part, std::min(sizeof part, max_bytes - text.size()));
    if (bytes <= 0) break;
    text.append(part, static_cast<size_t>(bytes));
  }
  return text;
}

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

absl::StatusOr<std::string> RunCommand(const CommandOptions& options) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return ErrnoError("cannot make a pipe");
  UniqueFd output(ends[0]), input(ends[1]);
  SpawnOptions spawn;
  spawn.argv = options.argv;
  spawn.environment = options.environment;
  spawn.output_fd = input.get();
  spawn.new_group = true;
  spawn.parent_death_signal = SIGKILL;
  absl::StatusOr<PendingChild> child = PendingChild::Start(spawn);
  if (!child.ok()) return child.status();
  const absl::StatusOr<Process> process = Process::Open(child->identity());
  child->Release();
  if (!process.ok()) return process.status();
  input.Reset();
  const double until = SteadySeconds() + options.limit_seconds;
  std::string text = ReadUntil(output.get(), until, options.max_bytes);
  output.Reset();  // One that prints on and on ends by it.
  const bool ended = AwaitEnd(*process, until);
  // All of its group: what it started may hold on.
  if (!ended) kill(-process->identity().pid, SIGKILL);
  if (!ended) AwaitEnd(*process, HUGE_VAL);
  const absl::StatusOr<ExitStatus> status = process->Reap();
  if (!ended) return absl::DeadlineExceededError(absl::StrCat("the command did not end in ", options.limit_seconds, " s"));
  if (!status.ok()) return status.status();
  if (status->code != 0) return absl::UnavailableError(absl::StrCat("the command ended with ", status->ToString()));
  return text;
}

}  // namespace rekindle::common
