#include "worker/agent/init/init.h"

#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <iterator>
#include <optional>

#include "absl/strings/match.h"
#include "common/log/log.h"
#include "common/process/command.h"
#include "common/process/process.h"
#include "common/time/clock.h"
#include "worker/agent/folder/exits.h"

namespace rekindle::agent {
namespace {

// After the death of an agent that lived for `kQuickDeathSeconds` or longer, the count of quick deaths starts again at
// 1.
constexpr double kQuickDeathSeconds = 30;
// Processes that the agent left behind get `kStopGraceSeconds` between SIGTERM and SIGKILL.
constexpr double kStopGraceSeconds = 5;
constexpr int kMaxExitRecords = 4096;

std::optional<std::string> FindDir(const std::vector<std::string>& arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (absl::StartsWith(arguments[i], "--dir=")) return arguments[i].substr(6);
    if (arguments[i] == "--dir" && i + 1 < arguments.size()) return arguments[i + 1];
  }
  return std::nullopt;
}

class Init {
 public:
  Init(std::string dir, std::vector<std::string> agent_argv, common::UniqueFd signals)
      : dir_(std::move(dir)), agent_argv_(std::move(agent_argv)), signals_(std::move(signals)) {}

  int Run() {
    for (;;) {
      if (!agent_ && common::SteadySeconds() >= start_at_) StartAgent();
      Wait(agent_ ? hurry_until_ : start_at_);
      TakeSignals();
      ReapAll();
      if (!agent_ && final_code_) return StopRest();
      if (agent_ && common::SteadySeconds() >= hurry_until_) KillAgent();
    }
  }

 private:
  // Waits until a signal arrives or `deadline` of the steady clock passes.
  void Wait(double deadline) {
    const double seconds = deadline - common::SteadySeconds();
    const int timeout = std::isinf(deadline) ? -1 : static_cast<int>(std::ceil(std::max(0.0, seconds) * 1000));
    pollfd p = {.fd = signals_.get(), .events = POLLIN, .revents = 0};
    poll(&p, 1, timeout);
  }

  void StartAgent() {
    common::SpawnOptions options;
    options.argv = agent_argv_;
    options.environment = common::OwnEnvironment();
    // The agent has a process group of its own, so Ctrl-C reaches only init, which forwards it once.
    options.new_group = true;
    // The kernel kills the agent when init dies. Otherwise the agent would keep the lock on the folder, and the agent
    // of the next init could not start.
    options.parent_death_signal = SIGKILL;
    // A SIGTERM that is sent before the agent listens for it has to wait rather than kill the agent.
    options.blocked_signals = {SIGTERM, SIGINT};
    absl::StatusOr<common::PendingChild> child = common::PendingChild::Start(options);
    if (!child.ok()) {
      log::Error("cannot start the agent", {{"error", std::string(child.status().message())}});
      start_at_ = common::SteadySeconds() + AgentRestartDelay(++quick_deaths_);
      return;
    }
    agent_ = child->identity();
    started_at_ = common::SteadySeconds();
    child->Release();
    log::Info("agent started", {{"pid", static_cast<int>(agent_->pid)}});
    for (int i = 0; i < std::min(stop_signals_, 2); ++i) Forward();
  }

  void Forward() { agent_->SendSignal(SIGTERM).IgnoreError(); }

  void KillAgent() {
    log::Warning("the agent did not stop in time: killing it");
    agent_->SendSignal(SIGKILL).IgnoreError();
    final_code_ = kExitFailed;
    hurry_until_ = HUGE_VAL;
  }

  void TakeSignals() {
    while (const int signal = common::ReadSignal(signals_.get())) {
      if (signal == SIGCHLD) continue;
      ++stop_signals_;
      log::Info(stop_signals_ == 1 ? "stopping: the agent drains the node" : "told again: hurrying");
      // A stop signal ends init if no agent runs at that moment, because nothing can drain the node then.
      if (!agent_) final_code_ = kExitOk;
      if (agent_) Forward();
      if (stop_signals_ == 2) hurry_until_ = common::SteadySeconds() + 2 * kStopGraceSeconds;
      if (stop_signals_ > 2) hurry_until_ = common::SteadySeconds();
    }
  }

  void ReapAll() {
    for (;;) {
      siginfo_t info = {};
      // The ended process is not reaped yet (WNOWAIT), because Record() needs its start time, which a zombie still has.
      if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) return;
      const common::ExitStatus status = common::FromWaitStatus(info.si_code, info.si_status);
      const bool is_agent = agent_ && agent_->pid == info.si_pid;
      // What code of users leaves behind has other user ids. It must not use up the records that are for trainers.
      if (!is_agent && info.si_uid == getuid()) Record(info.si_pid, status);
      waitpid(info.si_pid, nullptr, 0);
      if (is_agent) AgentEnded(status);
    }
  }

  void Record(pid_t pid, common::ExitStatus status) {
    const absl::StatusOr<common::ProcessIdentity> process = common::Identify(pid);
    if (!process.ok() || ++recorded_ > kMaxExitRecords) return;
    const absl::Status recorded = RecordExit(dir_, *process, status);
    if (!recorded.ok()) log::Warning("cannot record an exit", {{"error", std::string(recorded.message())}});
  }

  void AgentEnded(common::ExitStatus status) {
    agent_.reset();
    // When an agent has ended, the count of exit records starts again at 0, because the next agent reads or removes all
    // exit records that are there.
    recorded_ = 0;
    const double now = common::SteadySeconds();
    const bool is_last = status.code == kExitOk || status.code == kExitWrongUse || status.code == kExitRefused ||
                         status.code == kExitAlone;
    if (is_last) {
      final_code_ = status.code;
      return;
    }
    if (final_code_) return;
    if (stop_signals_ > 1) {
      final_code_ = kExitFailed;
      return;
    }
    quick_deaths_ = now - started_at_ < kQuickDeathSeconds ? quick_deaths_ + 1 : 1;
    const double delay = AgentRestartDelay(quick_deaths_ - 1);
    start_at_ = now + delay;
    log::Warning("agent ended: restarting it", {{"status", status.ToString()}, {"delay_seconds", delay}});
  }

  // Stops all children of init, including those whose parents end meanwhile.
  int StopRest() {
    const double kill_at = common::SteadySeconds() + (stop_signals_ > 1 ? kStopGraceSeconds / 5 : kStopGraceSeconds);
    std::vector<pid_t> told;
    for (;;) {
      ReapAll();
      const std::vector<pid_t> children = common::Children();
      if (children.empty()) break;
      const bool kill = common::SteadySeconds() >= kill_at;
      for (const pid_t child : children) {
        if (!kill && std::find(told.begin(), told.end(), child) != told.end()) continue;
        // A child of init that is not reaped yet still has its pid, so the signal cannot reach another process.
        ::kill(child, kill ? SIGKILL : SIGTERM);
        told.push_back(child);
      }
      Wait(kill ? common::SteadySeconds() + 0.1 : kill_at);
      while (common::ReadSignal(signals_.get()) != 0) continue;
    }
    log::Info("stopped", {{"exit_code", *final_code_}});
    return *final_code_;
  }

  const std::string dir_;
  const std::vector<std::string> agent_argv_;
  const common::UniqueFd signals_;
  std::optional<common::ProcessIdentity> agent_;
  double started_at_ = 0;
  // `start_at_` is when to start the next agent, in steady seconds.
  double start_at_ = 0;
  // `hurry_until_` is when to kill the agent, in steady seconds.
  double hurry_until_ = HUGE_VAL;
  int quick_deaths_ = 0;
  int stop_signals_ = 0;
  int recorded_ = 0;
  // Once `final_code_` is set, no agent is started again.
  std::optional<int> final_code_;
};

}  // namespace

double AgentRestartDelay(int quick_deaths) {
  static constexpr double kDelays[] = {0, 0.1, 0.2, 0.5, 1, 2, 5};
  return kDelays[std::clamp<int>(quick_deaths, 0, std::size(kDelays) - 1)];
}

int RunInit(const std::string& program, const std::vector<std::string>& arguments) {
  const std::optional<std::string> dir = FindDir(arguments);
  if (!dir || dir->empty()) {
    std::fprintf(stderr, "rekindle-worker init: --dir DIR is missing: the node's own folder\n");
    return kExitWrongUse;
  }
  log::Init("rekindle-worker-init");
  absl::StatusOr<common::UniqueFd> signals = common::OpenSignalFd({SIGTERM, SIGINT, SIGCHLD});
  const absl::Status reaper = common::BecomeSubreaper();
  if (!signals.ok() || !reaper.ok()) {
    const absl::Status& error = signals.ok() ? reaper : signals.status();
    log::Error("cannot start", {{"error", std::string(error.message())}});
    return kExitFailed;
  }
  mkdir(dir->c_str(), 0700);
  std::vector<std::string> argv = {program, "agent"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return Init(*dir, std::move(argv), *std::move(signals)).Run();
}

}  // namespace rekindle::agent
