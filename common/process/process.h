// Starts, watches and signals processes of this machine without races on reused pids. A process is named by pid and
// start time, and is watched and signalled through a pidfd. This needs Linux 5.9 or later (pidfd_open, close_range).
//
// Functions are thread-safe unless stated otherwise. Errors are NOT_FOUND if the process does not exist (any more), and
// otherwise INTERNAL with errno's text and the call that failed.
#ifndef REKINDLE_COMMON_PROCESS_PROCESS_H_
#define REKINDLE_COMMON_PROCESS_PROCESS_H_

#include <sys/types.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/files/unique_fd.h"

namespace rekindle::common {

// Returns a status with the message "what: text of errno".
absl::Status ErrnoError(const std::string& what);

// Distinguishes one use of a pid from the next. `start_time_ticks` is field 22 of /proc/PID/stat (clock ticks since
// boot).
struct ProcessIdentity {
  pid_t pid = 0;
  uint64_t start_time_ticks = 0;

  bool operator==(const ProcessIdentity&) const = default;
  // Returns whether the process runs: it is neither gone, nor a zombie, nor another process under the same pid.
  bool Alive() const;
  // Signals exactly this process. Returns NOT_FOUND if it is gone or its pid now belongs to another.
  absl::Status SendSignal(int signal) const;
};

// Parses field 22 of the text of /proc/PID/stat. The name in field 2 may contain spaces and parentheses.
absl::StatusOr<uint64_t> ParseStartTime(const std::string& stat);
// Identifies a running process or a zombie.
absl::StatusOr<ProcessIdentity> Identify(pid_t pid);
// Returns an id that changes with every boot. Together with it a ProcessIdentity is unique across boots.
std::string BootId();

// Says how a process ended: `code` is its exit code, or -signal.
struct ExitStatus {
  int code = 0;
  // Returns a text like "exit code 3" or "killed by signal 9 (Killed)".
  std::string ToString() const;
};
// Converts si_code and si_status of siginfo_t to an ExitStatus.
ExitStatus FromWaitStatus(int code, int status);
// Parses field 52 (exit_code) of the text of /proc/PID/stat. Returns nothing if it is 0 or a signal that stops a
// process.
std::optional<ExitStatus> ParseEnding(const std::string& stat);

// A `Process` is a handle on exactly one process. It is thread-compatible.
class Process {
 public:
  // Opens a handle on the process that has this pid and start time, which may be a zombie. Returns NOT_FOUND if it does
  // not exist.
  static absl::StatusOr<Process> Open(const ProcessIdentity& identity);

  const ProcessIdentity& identity() const { return identity_; }
  // Returns a descriptor that becomes readable (POLLIN) when the process has ended.
  int fd() const { return fd_.get(); }
  bool Exited() const;
  // Returns how the process ends if its end has begun while the kernel still frees its memory. Returns nothing if it
  // runs or is stopped, if it ends with exit code 0, or if this user may not know. In these cases only Exited shows its
  // end.
  std::optional<ExitStatus> Ending() const;
  absl::Status Signal(int signal) const;
  // Takes the exit status of a child that has ended and removes its zombie. Returns FAILED_PRECONDITION if it still
  // runs, and NOT_FOUND if it is not a child of this process.
  absl::StatusOr<ExitStatus> Reap() const;

 private:
  Process(ProcessIdentity identity, UniqueFd fd) : identity_(identity), fd_(std::move(fd)) {}
  ProcessIdentity identity_;
  UniqueFd fd_;
};

// Makes orphaned descendants become children of this process rather than of pid 1.
absl::Status BecomeSubreaper();
// Returns the pids whose parent is this process, zombies included.
std::vector<pid_t> Children();

// Blocks `signals` in the calling thread and returns a non-blocking, close-on-exec descriptor that delivers them. It
// must be called before other threads start, because they inherit the mask.
absl::StatusOr<UniqueFd> OpenSignalFd(std::initializer_list<int> signals);
// Returns the next signal from a descriptor of OpenSignalFd, or 0 if there is none.
int ReadSignal(int fd);

// Says how to start a child. All strings are copied before the fork.
struct SpawnOptions {
  // argv[0] is the path of the program. PATH is not searched.
  std::vector<std::string> argv;
  // `environment` is the whole environment, with entries "NAME=value".
  std::vector<std::string> environment;
  // `input_fd` becomes stdin. If it is -1, stdin is inherited.
  int input_fd = -1;
  // `output_fd` becomes stdout and stderr. If it is -1, both are inherited.
  int output_fd = -1;
  // If `keep_stderr` is set, stderr is inherited in any case.
  bool keep_stderr = false;
  // If `new_session` is set, the child calls setsid, so signals to this process's group or terminal do not reach it.
  bool new_session = false;
  // If `session_nice` is not 0, it is 1 to 19, and the child's session gets a smaller share of the processor (see
  // SetSessionNice). It needs `new_session`.
  int session_nice = 0;
  // If `new_group` is set, the child calls setpgid: it leads a process group of its own, but stays in the session.
  bool new_group = false;
  // `parent_death_signal` is sent to the child when the thread that spawns it ends. With 0 the child outlives it.
  int parent_death_signal = 0;
  // `blocked_signals` is the child's signal mask. Its signal actions are the default ones.
  std::vector<int> blocked_signals;
  // `kept_fds` become the child's descriptors 3, 4 and so on, in this order. There are at most kMostKept.
  static constexpr size_t kMostKept = 8;
  std::vector<int> kept_fds;
  // If `confine` is set, the child calls it right before its exec. It may make only async-signal-safe calls. It returns
  // what went wrong, and the child then ends with exit code 126 and that line on its stderr, or null. What
  // `confine_with` points to must live until Start() returns.
  const char* (*confine)(const void* with) = nullptr;
  const void* confine_with = nullptr;
};

// Sets the share of the processor that this process's session gets beside other sessions. `nice` is from 0 (the usual
// share) to 19 (the smallest share). Linux weighs sessions before it looks at the nice values inside (sched(7),
// autogroup). Every user may lower the value of a session back to 0, which is not so for the nice value of a process.
// Returns true if the share is set or if this kernel has no such feature. Returns false if the caller has to try again
// later, as the whole machine allows at most one change in 0.1 s. It is async-signal-safe.
bool SetSessionNice(int nice);

// What has a rank start has its session at this value, so that the start does not slow down trainers that make steps on
// the same cores.
inline constexpr int kStartNice = 3;

// A `PendingChild` is a child that waits before its exec, so that its identity can be recorded first. If this object or
// this process goes away before Release(), the child ends without running anything. Descriptors other than 0, 1, 2 and
// those that are kept are closed.
class PendingChild {
 public:
  static absl::StatusOr<PendingChild> Start(const SpawnOptions& options);

  const ProcessIdentity& identity() const { return identity_; }
  // Lets the child exec. If the exec fails, the child ends with exit code 127 and a line on its stderr.
  void Release();

 private:
  PendingChild(ProcessIdentity identity, UniqueFd gate) : identity_(identity), gate_(std::move(gate)) {}
  ProcessIdentity identity_;
  UniqueFd gate_;
};

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_PROCESS_PROCESS_H_
