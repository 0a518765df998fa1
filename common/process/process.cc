#include "common/process/process.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

#include "absl/strings/str_cat.h"

namespace rekindle::common {
namespace {

int PidfdOpen(pid_t pid) { return static_cast<int>(syscall(SYS_pidfd_open, pid, 0)); }

std::string ReadProc(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Returns field `number` of /proc/PID/stat, or an empty text if there is none. `number` is 3 or more, counted from 1 as
// in proc(5).
std::string StatField(const std::string& stat, int number) {
  // The program's name, which is field 2, ends at the last parenthesis, as the name itself may contain others.
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return "";
  std::istringstream fields(stat.substr(name_end + 1));
  std::string field;
  for (int i = 3; i <= number; ++i) {
    if (!(fields >> field)) return "";
  }
  return field;
}

template <typename Number>
bool ParseNumber(const std::string& text, Number* value) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, *value);
  return error == std::errc() && stop == end && !text.empty();
}

absl::Status Gone(const ProcessIdentity& identity) {
  return absl::NotFoundError(absl::StrCat("no process ", identity.pid, " started at tick ", identity.start_time_ticks));
}

std::vector<char*> Pointers(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (const std::string& s : strings) pointers.push_back(const_cast<char*>(s.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// Holds everything that the child process needs. It is made before the fork, because the child may make only
// async-signal-safe calls.
struct ChildPlan {
  std::vector<char*> argv;
  std::vector<char*> environment;
  sigset_t mask;
  int input_fd;
  int output_fd;
  bool keep_stderr;
  bool new_session;
  int session_nice;
  bool new_group;
  int parent_death_signal;
  pid_t parent;
  int gate;
  const std::vector<int>* kept;
  const char* (*confine)(const void*);
  const void* confine_with;
};

// Has the kernel signal this process when its parent ends. If the parent has ended already, no signal would come, so
// the process ends itself.
void DieWithParent(const ChildPlan& plan) {
  if (plan.parent_death_signal == 0) return;
  prctl(PR_SET_PDEATHSIG, plan.parent_death_signal);
  if (getppid() != plan.parent) _exit(125);
}

// Makes the kept descriptors 3, 4 and so on. Returns the first number after them. All others are closed by the caller.
unsigned MoveKept(const std::vector<int>& kept) {
  const auto count = static_cast<int>(kept.size());
  int copies[SpawnOptions::kMostKept];
  // A kept descriptor may have a number that another one gets, so all are first copied to numbers that none gets.
  for (int i = 0; i < count; ++i) {
    copies[i] = fcntl(kept[static_cast<size_t>(i)], F_DUPFD, STDERR_FILENO + 1 + count);
    if (copies[i] < 0) _exit(125);
  }
  for (int i = 0; i < count; ++i) dup2(copies[i], STDERR_FILENO + 1 + i);
  return static_cast<unsigned>(STDERR_FILENO + 1 + count);
}

// Runs the child. All signals are blocked on entry. So no handler of the parent, and no signal that the child has to
// block, can act before the child has set its own signal actions and mask.
[[noreturn]] void RunChild(const ChildPlan& plan) {
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) sigaction(signal, &standard, nullptr);
  sigprocmask(SIG_SETMASK, &plan.mask, nullptr);
  if (plan.new_session) setsid();
  if (plan.session_nice > 0) SetSessionNice(plan.session_nice);
  if (plan.new_group) setpgid(0, 0);
  DieWithParent(plan);
  char go = 0;
  ssize_t got;
  do {
    got = read(plan.gate, &go, 1);
  } while (got < 0 && errno == EINTR);
  if (got != 1) _exit(125);
  if (plan.input_fd >= 0) dup2(plan.input_fd, STDIN_FILENO);
  if (plan.output_fd >= 0) {
    dup2(plan.output_fd, STDOUT_FILENO);
    if (!plan.keep_stderr) dup2(plan.output_fd, STDERR_FILENO);
  }
  if (plan.confine != nullptr) {
    const char* const failed = plan.confine(plan.confine_with);
    if (failed != nullptr) {
      [[maybe_unused]] const ssize_t ignored = write(STDERR_FILENO, failed, std::strlen(failed));
      _exit(126);
    }
    // The kernel forgets the signal when the process becomes another user's.
    DieWithParent(plan);
  }
  close_range(MoveKept(*plan.kept), ~0U, 0);
  execve(plan.argv[0], plan.argv.data(), plan.environment.data());
  static constexpr char kMessage[] = "cannot execute the program: it is missing or not executable\n";
  [[maybe_unused]] const ssize_t ignored = write(STDERR_FILENO, kMessage, sizeof kMessage - 1);
  _exit(127);
}

}  // namespace

absl::Status ErrnoError(const std::string& what) {
  const int error = errno;
  const std::string text = absl::StrCat(what, ": ", std::strerror(error));
  return error == ESRCH || error == ENOENT ? absl::NotFoundError(text) : absl::InternalError(text);
}

bool ProcessIdentity::Alive() const {
  const absl::StatusOr<Process> process = Process::Open(*this);
  return process.ok() && !process->Exited();
}

absl::Status ProcessIdentity::SendSignal(int signal) const {
  const absl::StatusOr<Process> process = Process::Open(*this);
  return process.ok() ? process->Signal(signal) : process.status();
}

absl::StatusOr<uint64_t> ParseStartTime(const std::string& stat) {
  uint64_t ticks = 0;
  if (!ParseNumber(StatField(stat, 22), &ticks)) {
    return absl::InternalError(absl::StrCat("not a line of /proc/PID/stat: \"", stat.substr(0, 80), "\""));
  }
  return ticks;
}

absl::StatusOr<ProcessIdentity> Identify(pid_t pid) {
  const std::string stat = ReadProc(absl::StrCat("/proc/", pid, "/stat"));
  if (stat.empty()) return absl::NotFoundError(absl::StrCat("no process ", pid));
  const absl::StatusOr<uint64_t> ticks = ParseStartTime(stat);
  if (!ticks.ok()) return ticks.status();
  return ProcessIdentity{pid, *ticks};
}

std::string BootId() {
  std::string id = ReadProc("/proc/sys/kernel/random/boot_id");
  while (!id.empty() && id.back() == '\n') id.pop_back();
  return id;
}

bool SetSessionNice(int nice) {
  const int fd = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return true;
  const char digits[] = {static_cast<char>('0' + nice / 10), static_cast<char>('0' + nice % 10)};
  const bool busy = write(fd, digits, sizeof digits) < 0 && errno == EAGAIN;
  close(fd);
  return !busy;
}

std::string ExitStatus::ToString() const {
  if (code >= 0) return absl::StrCat("exit code ", code);
  const char* name = strsignal(-code);
  return absl::StrCat("killed by signal ", -code, " (", name ? name : "unknown", ")");
}

ExitStatus FromWaitStatus(int code, int status) { return {.code = code == CLD_EXITED ? status : -status}; }

std::optional<ExitStatus> ParseEnding(const std::string& stat) {
  static constexpr int kStops[] = {SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU};
  // `status` says how the process ends, in the form in which waitpid returns it.
  int status = 0;
  if (!ParseNumber(StatField(stat, 52), &status) || status <= 0) return std::nullopt;
  if (WIFEXITED(status)) return ExitStatus{.code = WEXITSTATUS(status)};
  if (std::find(std::begin(kStops), std::end(kStops), WTERMSIG(status)) != std::end(kStops)) return std::nullopt;
  return ExitStatus{.code = -WTERMSIG(status)};
}

absl::StatusOr<Process> Process::Open(const ProcessIdentity& identity) {
  if (identity.pid <= 0) return Gone(identity);
  UniqueFd fd(PidfdOpen(identity.pid));
  if (!fd.valid()) {
    return errno == ESRCH ? Gone(identity) : ErrnoError(absl::StrCat("pidfd_open of process ", identity.pid));
  }
  // The pidfd stays with one process. If that process has the start time of `identity`, it is the right one.
  const absl::StatusOr<ProcessIdentity> found = Identify(identity.pid);
  if (!found.ok() || *found != identity) return Gone(identity);
  return Process(identity, std::move(fd));
}

bool Process::Exited() const {
  pollfd p = {.fd = fd_.get(), .events = POLLIN, .revents = 0};
  return poll(&p, 1, 0) == 1;
}

std::optional<ExitStatus> Process::Ending() const {
  const std::string stat = ReadProc(absl::StrCat("/proc/", identity_.pid, "/stat"));
  const absl::StatusOr<uint64_t> ticks = ParseStartTime(stat);
  if (!ticks.ok() || *ticks != identity_.start_time_ticks) return std::nullopt;
  return ParseEnding(stat);
}

absl::Status Process::Signal(int signal) const {
  if (syscall(SYS_pidfd_send_signal, fd_.get(), signal, nullptr, 0) == 0) return absl::OkStatus();
  return ErrnoError(absl::StrCat("signal ", signal, " to process ", identity_.pid));
}

absl::StatusOr<ExitStatus> Process::Reap() const {
  siginfo_t info = {};
  if (waitid(static_cast<idtype_t>(P_PIDFD), static_cast<id_t>(fd_.get()), &info, WEXITED | WNOHANG) != 0) {
    if (errno == ECHILD) return absl::NotFoundError(absl::StrCat("process ", identity_.pid, " is not our child"));
    return ErrnoError(absl::StrCat("wait for process ", identity_.pid));
  }
  if (info.si_pid == 0) return absl::FailedPreconditionError(absl::StrCat("process ", identity_.pid, " still runs"));
  return FromWaitStatus(info.si_code, info.si_status);
}

absl::Status BecomeSubreaper() {
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) == 0) return absl::OkStatus();
  return ErrnoError("prctl(PR_SET_CHILD_SUBREAPER)");
}

std::vector<pid_t> Children() {
  std::vector<pid_t> children;
  DIR* proc = opendir("/proc");
  if (proc == nullptr) return children;
  while (const dirent* entry = readdir(proc)) {
    pid_t pid = 0;
    pid_t parent = 0;
    if (!ParseNumber(std::string(entry->d_name), &pid)) continue;
    const std::string stat = ReadProc(absl::StrCat("/proc/", pid, "/stat"));
    if (ParseNumber(StatField(stat, 4), &parent) && parent == getpid()) children.push_back(pid);
  }
  closedir(proc);
  return children;
}

absl::StatusOr<UniqueFd> OpenSignalFd(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals) sigaddset(&set, signal);
  const int error = pthread_sigmask(SIG_BLOCK, &set, nullptr);
  if (error != 0) return absl::InternalError(absl::StrCat("pthread_sigmask: ", std::strerror(error)));
  UniqueFd fd(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd.valid()) return ErrnoError("signalfd");
  return fd;
}

int ReadSignal(int fd) {
  signalfd_siginfo info;
  return read(fd, &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo) : 0;
}

absl::StatusOr<PendingChild> PendingChild::Start(const SpawnOptions& options) {
  if (options.argv.empty()) return absl::InvalidArgumentError("nothing to execute: argv is empty");
  if (options.kept_fds.size() > SpawnOptions::kMostKept) {
    return absl::InvalidArgumentError("too many descriptors are to be kept");
  }
  int gate[2];
  if (pipe2(gate, O_CLOEXEC) != 0) return ErrnoError("pipe");
  UniqueFd read_end(gate[0]);
  UniqueFd write_end(gate[1]);
  ChildPlan plan = {.argv = Pointers(options.argv),
                    .environment = Pointers(options.environment),
                    .mask = {},
                    .input_fd = options.input_fd,
                    .output_fd = options.output_fd,
                    .keep_stderr = options.keep_stderr,
                    .new_session = options.new_session,
                    .session_nice = options.session_nice,
                    .new_group = options.new_group,
                    .parent_death_signal = options.parent_death_signal,
                    .parent = getpid(),
                    .gate = gate[0],
                    .kept = &options.kept_fds,
                    .confine = options.confine,
                    .confine_with = options.confine_with};
  sigemptyset(&plan.mask);
  for (const int signal : options.blocked_signals) sigaddset(&plan.mask, signal);
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = fork();
  if (pid == 0) {
    // The child closes its copy of the writing end of the pipe on which it waits for permission to exec. Otherwise it
    // would not notice that the parent is gone.
    close(gate[1]);
    RunChild(plan);
  }
  const int fork_error = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) {
    errno = fork_error;
    return ErrnoError("fork");
  }
  const absl::StatusOr<ProcessIdentity> identity = Identify(pid);
  if (!identity.ok()) return identity.status();
  return PendingChild(*identity, std::move(write_end));
}

void PendingChild::Release() {
  const char go = 1;
  [[maybe_unused]] const ssize_t ignored = write(gate_.get(), &go, 1);
  gate_.Reset();
}

}  // namespace rekindle::common
