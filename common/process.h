// Processes of this machine, without races on re-used pids: a process is named by pid and start time, and is watched
// and signalled through a pidfd. Linux 5.9 or later (pidfd_open, close_range).
//
// Functions are thread-safe unless said otherwise. Errors: NOT_FOUND when there is no such process (any more), else
// INTERNAL with errno's text and what was tried.
#ifndef REKINDLE_COMMON_PROCESS_H_
#define REKINDLE_COMMON_PROCESS_H_

#include <sys/types.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rekindle::common {

// Owns a file descriptor; closes it on destruction.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept;
  ~UniqueFd() { Reset(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int Release() { return std::exchange(fd_, -1); }  // The caller's from now on.
  void Reset();

 private:
  int fd_ = -1;
};

// "what: text of errno".
absl::Status ErrnoError(const std::string& what);

// What tells one life of a pid from the next: start_time_ticks is field 22 of /proc/PID/stat (clock ticks since boot).
struct ProcessIdentity {
  pid_t pid = 0;
  uint64_t start_time_ticks = 0;

  bool operator==(const ProcessIdentity&) const = default;
  // Runs: neither gone, nor a zombie, nor another process under the same pid.
  bool Alive() const;
  // To exactly this process: NOT_FOUND when it is gone or its pid now belongs to another.
  absl::Status SendSignal(int signal) const;
};

// Field 22 of the text of /proc/PID/stat; the name in field 2 may hold spaces and parentheses.
absl::StatusOr<uint64_t> ParseStartTime(const std::string& stat);
// Of a running process or a zombie.
absl::StatusOr<ProcessIdentity> Identify(pid_t pid);
// Changes with every boot; with it a ProcessIdentity is unique across boots.
std::string BootId();

// How a process ended: its exit code, or -signal.
struct ExitStatus {
  int code = 0;
  std::string ToString() const;  // "exit code 3", "killed by signal 9 (Killed)"
};
ExitStatus FromWaitStatus(int code, int status);  // si_code and si_status of siginfo_t.
// Of field 52 of the text of /proc/PID/stat. Nothing where it is 0, or the signal that stopped a process.
std::optional<ExitStatus> ParseEnding(const std::string& stat);

// A handle on exactly one process. Thread-compatible.
class Process {
 public:
  // NOT_FOUND unless that very process exists (it may be a zombie).
  static absl::StatusOr<Process> Open(const ProcessIdentity& identity);

  const ProcessIdentity& identity() const { return identity_; }
  // Becomes readable (POLLIN) when the process has ended.
  int fd() const { return fd_.get(); }
  bool Exited() const;
  // How it ends, where that has begun and the kernel still frees its memory. Nothing where it runs or stands, where it
  // ends with exit code 0, and where this user may not know: then Exited alone tells.
  std::optional<ExitStatus> Ending() const;
  absl::Status Signal(int signal) const;
  // Takes the exit status of a child that has ended, and its zombie away. FAILED_PRECONDITION when it still runs,
  // NOT_FOUND when it is not a child of this process.
  absl::StatusOr<ExitStatus> Reap() const;

 private:
  Process(ProcessIdentity identity, UniqueFd fd) : identity_(identity), fd_(std::move(fd)) {}
  ProcessIdentity identity_;
  UniqueFd fd_;
};

// Orphaned descendants become children of this process rather than of pid 1.
absl::Status BecomeSubreaper();
// Pids whose parent is this process, zombies included.
std::vector<pid_t> Children();

// Blocks `signals` in the calling thread (call before other threads start: they inherit it) and returns a descriptor,
// non-blocking and close-on-exec, that delivers them.
absl::StatusOr<UniqueFd> OpenSignalFd(std::initializer_list<int> signals);
// The next signal from such a descriptor; 0 when there is none.
int ReadSignal(int fd);

// How to start a child. All strings are copied before the fork.
struct SpawnOptions {
  std::vector<std::string> argv;         // argv[0] is the path of the program; no search in PATH.
  std::vector<std::string> environment;  // "NAME=value"; all of it.
  int input_fd = -1;                     // Becomes stdin; -1: inherited.
  int output_fd = -1;                    // Becomes stdout and stderr; -1: inherited.
  bool keep_stderr = false;              // Stderr is inherited in any case.
  bool new_session = false;              // setsid: signals to our group or terminal do not reach it.
  int session_nice = 0;                  // 1..19, with new_session: see SetSessionNice.
  bool new_group = false;                // setpgid only.
  int parent_death_signal = 0;           // Sent to it when the thread that spawns it ends; 0: it outlives us.
  std::vector<int> blocked_signals;      // Its signal mask; signal actions are the default ones.
};

// Share of the processor that this process's session gets against others, 0 (usual) to 19: Linux weighs sessions before
// it looks at the nice values inside (sched(7), autogroup), and unlike those, anybody may lower it back to 0.
// True when it holds, or when this kernel has no such thing; false: try again later (at most one change in 0.1 s of the
// whole machine). Async-signal-safe.
bool SetSessionNice(int nice);

// A child that waits before its exec, so that its identity can be written down first: if this object, or this process,
// goes away before Release(), the child ends without running anything. Descriptors other than 0, 1 and 2 are closed.
class PendingChild {
 public:
  static absl::StatusOr<PendingChild> Start(const SpawnOptions& options);

  const ProcessIdentity& identity() const { return identity_; }
  // Lets it exec. An exec that fails shows as exit code 127, with a line on its stderr.
  void Release();

 private:
  PendingChild(ProcessIdentity identity, UniqueFd gate) : identity_(identity), gate_(std::move(gate)) {}
  ProcessIdentity identity_;
  UniqueFd gate_;
};

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_PROCESS_H_
