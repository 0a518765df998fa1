#include "coordinator/fleet/providers/local/local_machine.h"

#include <filesystem>
#include <limits>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/digest/random_bytes.h"
#include "common/log/log.h"

namespace rekindle::fleet {
namespace {

constexpr double kRestartSeconds = 1;
constexpr int kKillMilliseconds = 2000;
constexpr size_t kRandomBytes = 8;
constexpr double kForever = std::numeric_limits<double>::infinity();

}  // namespace

absl::StatusOr<MachineProcesses> MachineProcesses::Start(const LocalNode& wanted, const std::string& log, double now) {
  LocalNode node = wanted;
  if (absl::Status status = MakeFolder(node.folder); !status.ok()) return status;
  if (!MakeFolder(node.shared_memory).ok()) {
    // The folder for shared memory cannot be made where another user has one of the same name. So the machine gets a
    // folder with a random name, which nobody can guess.
    absl::StrAppend(&node.shared_memory, "-", absl::BytesToHexString(common::RandomBytes(kRandomBytes)));
    if (absl::Status status = MakeFolder(node.shared_memory); !status.ok()) return status;
  }
  std::error_code error;
  std::filesystem::create_symlink(node.shared_memory, node.folder + "/" + kSharedMemoryLink, error);
  auto checkpoint = StartProgram(CheckpointCommand(node), log + "-checkpoint.log", 0);
  if (!checkpoint.ok()) return checkpoint.status();
  auto worker = StartProgram(WorkerCommand(node), log + "-worker.log", 0);
  if (!worker.ok()) return worker.status();
  MachineProcesses machine(node, log, *std::move(worker));
  machine.started_ = now;
  machine.checkpoint_ = *std::move(checkpoint);
  return machine;
}

absl::StatusOr<MachineProcesses> MachineProcesses::Find(const LocalNode& wanted, const std::string& log) {
  auto worker = FindProgram(wanted.folder, "init");
  if (!worker.ok()) return worker.status();
  LocalNode node = wanted;
  std::error_code error;
  const auto shared = std::filesystem::read_symlink(node.folder + "/" + kSharedMemoryLink, error);
  if (!error) node.shared_memory = shared;
  MachineProcesses machine(node, log, *std::move(worker));
  auto checkpoint = FindProgram(node.folder, "--dir");
  if (checkpoint.ok()) machine.checkpoint_ = *std::move(checkpoint);
  return machine;
}

void MachineProcesses::Kill() {
  for (const common::Process* process : {&worker_, checkpoint_ ? &*checkpoint_ : nullptr}) {
    if (process == nullptr || !process->Signal(SIGKILL).ok()) continue;
    pollfd wait = {.fd = process->fd(), .events = POLLIN, .revents = 0};
    poll(&wait, 1, kKillMilliseconds);
    (void)process->Reap();
  }
}

double MachineProcesses::Tend(double now) {
  if (checkpoint_ && checkpoint_->Exited()) {
    (void)checkpoint_->Reap();
    checkpoint_.reset();
    restart_at_ = now + kRestartSeconds;
  }
  if (checkpoint_) return kForever;
  if (now < restart_at_) return restart_at_;
  auto started = StartProgram(CheckpointCommand(node_), log_ + "-checkpoint.log", 0);
  if (started.ok()) {
    checkpoint_ = *std::move(started);
    return kForever;
  }
  log::Warning("a checkpoint service did not start",
               {{"node", node_.name}, {"error", std::string(started.status().message())}});
  return restart_at_ = now + kRestartSeconds;
}

std::optional<double> MachineProcesses::Ended(double now) const {
  if (!worker_.Exited()) return std::nullopt;
  // A worker that an earlier coordinator started is not a child of this process, so Reap has no effect on it.
  (void)worker_.Reap();
  return started_ ? now - *started_ : kForever;
}

void MachineProcesses::Watch(std::vector<pollfd>* fds) const {
  fds->push_back({.fd = worker_.fd(), .events = POLLIN, .revents = 0});
  if (checkpoint_) fds->push_back({.fd = checkpoint_->fd(), .events = POLLIN, .revents = 0});
}

}  // namespace rekindle::fleet
