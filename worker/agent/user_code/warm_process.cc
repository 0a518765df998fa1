#include "worker/agent/user_code/warm_process.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "common/files/unique_fd.h"

namespace rekindle::agent {
namespace {

constexpr int kWaiting = 64;
// The process kills what it has forked and waits 1.5 s for that. All must be gone after 2 s.
constexpr double kGraceSeconds = 1.8;
constexpr double kLookAgainSeconds = 0.05;

absl::StatusOr<common::UniqueFd> Listen(const std::string& path) {
  sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = {}};
  if (path.size() >= sizeof address.sun_path) return absl::InvalidArgumentError(absl::StrCat(path, " is too long"));
  std::memcpy(address.sun_path, path.data(), path.size());
  common::UniqueFd listener(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!listener.valid()) return common::ErrnoError("socket");
  // The socket of an earlier process is in the way, and nobody listens to it.
  unlink(path.c_str());
  if (bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      chmod(path.c_str(), 0600) != 0 || listen(listener.get(), kWaiting) != 0) {
    return common::ErrnoError(absl::StrCat("listen at ", path));
  }
  return listener;
}

}  // namespace

absl::StatusOr<WarmProcess> WarmProcess::Start(const WarmOptions& options) {
  const absl::StatusOr<common::UniqueFd> listener = Listen(options.socket);
  if (!listener.ok()) return listener.status();
  const common::UniqueFd self(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)));
  if (!self.valid()) return common::ErrnoError("pidfd_open");
  const common::UniqueFd nothing(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!nothing.valid()) return common::ErrnoError("open /dev/null");
  common::SpawnOptions spawn;
  // The numbers are those that kept descriptors get.
  spawn.argv = {options.interpreter,
                "-u",
                "-m",
                "rekindle.warm",
                "--listen",
                "3",
                "--agent-pidfd",
                "4",
                "--folder",
                options.folder,
                "--task",
                options.task,
                "--seed",
                absl::StrCat(options.seed)};
  spawn.environment = options.environment;
  spawn.input_fd = nothing.get();
  // What an import prints is printed again where a model process starts cold. What is wrong with the imports goes to
  // the trainers.
  spawn.output_fd = nothing.get();
  spawn.new_session = true;
  spawn.kept_fds = {listener->get(), self.get()};
  if (options.confinement != nullptr) options.confinement->AddTo(&spawn);
  absl::StatusOr<common::PendingChild> child = common::PendingChild::Start(spawn);
  if (!child.ok()) return child.status();
  absl::StatusOr<common::Process> process = common::Process::Open(child->identity());
  if (!process.ok()) return process.status();
  child->Release();
  return WarmProcess(*std::move(process));
}

absl::StatusOr<WarmProcess> WarmProcess::Adopt(const common::ProcessIdentity& identity) {
  absl::StatusOr<common::Process> process = common::Process::Open(identity);
  if (!process.ok()) return process.status();
  if (process->Exited()) return absl::NotFoundError("it has ended");
  return WarmProcess(*std::move(process));
}

std::string WarmProcess::EndText() const {
  const absl::StatusOr<common::ExitStatus> exit = process_.Reap();
  return exit.ok() ? exit->ToString() : "its parent knows how it ended";
}

std::optional<double> WarmProcess::End(double now) {
  if (HasEnded()) {
    (void)process_.Reap();
    return std::nullopt;
  }
  if (!killed_at_) {
    (void)process_.Signal(SIGTERM);
    killed_at_ = now + kGraceSeconds;
  }
  if (now < *killed_at_) return *killed_at_;
  (void)process_.Signal(SIGKILL);
  return now + kLookAgainSeconds;
}

}  // namespace rekindle::agent
