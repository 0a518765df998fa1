#include "cli/local/program_supervisor.h"

#include <poll.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <limits>

#include "common/time/clock.h"
#include "coordinator/fleet/providers/local/local_node.h"

namespace rekindle::cli {
namespace {

constexpr double kFirstBackoff = 0.2;
constexpr double kLongestBackoff = 10;
// If a program dies after it has run for more than `kSteady` seconds, its back-off begins at `kFirstBackoff` again.
constexpr double kSteady = 30;
// The successor of a lost node starts after `kReplacementSeconds` seconds.
constexpr double kReplacementSeconds = 1;
constexpr double kDrainSeconds = 20;
constexpr double kStopSeconds = 10;

}  // namespace

absl::Status ProgramSupervisor::Start(const Program& program) {
  Running running;
  running.program = program;
  running.backoff = kFirstBackoff;
  if (absl::Status status = Launch(running); !status.ok()) return status;
  running_.push_back(std::move(running));
  return absl::OkStatus();
}

absl::Status ProgramSupervisor::Launch(Running& running) {
  // The program runs in a session of its own, because `rekindle up` itself handles Ctrl-C and stops the programs in
  // order.
  auto process = fleet::StartProgram(running.program.argv, running.program.log, SIGTERM);
  if (!process.ok()) return process.status();
  running.process = *std::move(process);
  running.started_at = common::SteadySeconds();
  return absl::OkStatus();
}

void ProgramSupervisor::HandleExit(Running& running, double now) {
  const auto status = running.process->Reap();
  running.process.reset();
  std::printf("%s ended (%s)\n", running.program.name.c_str(),
              status.ok() ? status->ToString().c_str() : std::string(status.status().message()).c_str());
  if (running.program.essential && status.ok() && status->code == 0) {
    std::printf("node %s has been drained and stays out\n", running.program.group.c_str());
    running.restart_at = std::numeric_limits<double>::infinity();
    return;
  }
  if (now - running.started_at > kSteady) running.backoff = kFirstBackoff;
  running.restart_at = now + running.backoff;
  running.backoff = std::min(2 * running.backoff, kLongestBackoff);
  if (running.program.essential) LoseGroup(running.program.group, now);
}

void ProgramSupervisor::LoseGroup(const std::string& group, double now) {
  const std::string folder = root_ + "/nodes/" + group;
  std::printf("node %s is gone; a fresh one takes its place\n", group.c_str());
  fleet::KillNode(folder);
  for (Running& other : running_) {
    if (other.program.group != group) continue;
    other.process.reset();
    other.restart_at = std::max(other.restart_at, now + kReplacementSeconds);
  }
}

void ProgramSupervisor::RestartDue(double now) {
  for (Running& running : running_) {
    if (running.process || running.restart_at > now) continue;
    if (!running.program.group.empty()) {
      (void)fleet::MakeFolder(root_ + "/nodes/" + running.program.group);
    }
    if (const absl::Status status = Launch(running); !status.ok()) {
      std::fprintf(stderr, "%s: %s\n", running.program.name.c_str(), std::string(status.message()).c_str());
      running.restart_at = now + kLongestBackoff;
    } else {
      std::printf("%s restarted\n", running.program.name.c_str());
    }
  }
}

int ProgramSupervisor::NextTimeoutMs(double now) const {
  double next = now + 60;
  for (const Running& running : running_) {
    if (!running.process) next = std::min(next, running.restart_at);
  }
  return std::max(0, static_cast<int>((next - now) * 1000) + 1);
}

absl::Status ProgramSupervisor::RunUntilSignal(int signal_fd) {
  for (;;) {
    std::fflush(stdout);
    std::vector<pollfd> polled = {{.fd = signal_fd, .events = POLLIN, .revents = 0}};
    for (const Running& running : running_) {
      polled.push_back({.fd = running.process ? running.process->fd() : -1, .events = POLLIN, .revents = 0});
    }
    poll(polled.data(), polled.size(), NextTimeoutMs(common::SteadySeconds()));
    if (common::ReadSignal(signal_fd) != 0) break;
    const double now = common::SteadySeconds();
    for (size_t i = 0; i < running_.size(); ++i) {
      if (running_[i].process && running_[i].process->Exited()) HandleExit(running_[i], now);
    }
    RestartDue(now);
  }
  Shutdown(signal_fd);
  return absl::OkStatus();
}

void ProgramSupervisor::Shutdown(int signal_fd) {
  const auto stop = [&](auto&& which, double seconds) {
    for (Running& r : running_) {
      if (r.process && which(r)) (void)r.process->Signal(SIGTERM);
    }
    const double end = common::SteadySeconds() + seconds;
    for (Running& r : running_) {
      if (!r.process || !which(r)) continue;
      while (!r.process->Exited() && common::SteadySeconds() < end && common::ReadSignal(signal_fd) == 0) {
        pollfd wait[] = {{.fd = r.process->fd(), .events = POLLIN, .revents = 0},
                         {.fd = signal_fd, .events = POLLIN, .revents = 0}};
        poll(wait, 2, std::max(1, static_cast<int>((end - common::SteadySeconds()) * 1000)));
      }
      if (!r.process->Exited()) (void)r.process->Signal(SIGKILL);
      r.process.reset();
    }
  };
  std::printf("stopping: nodes drain first (again to kill)\n");
  std::fflush(stdout);
  stop([](const Running& r) { return r.program.essential; }, kDrainSeconds);
  stop([](const Running&) { return true; }, kStopSeconds);
}

}  // namespace rekindle::cli
