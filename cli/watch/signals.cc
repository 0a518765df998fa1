#include "cli/watch/signals.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

#include "common/check/check.h"

namespace rekindle::cli {
namespace {

// The signal handler may use only the variables `wake_fd`, `interrupted` and `continued`.
std::atomic<int> wake_fd = -1;
std::atomic<bool> interrupted = false;
std::atomic<bool> continued = false;

void WakeUp(int fd) {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t ignored = write(fd, &one, sizeof one);
}

void Handle(int signal) {
  const int error = errno;
  if (signal == SIGCONT) {
    continued = true;
  } else if (signal != SIGWINCH) {
    // SIGWINCH sets no flag, because the size of the terminal is read again at each drawing.
    interrupted = true;
  }
  WakeUp(wake_fd);
  errno = error;
}

}  // namespace

Signals::Signals() : wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  common::Check(wake_.valid(), "the process may open one more descriptor");
  wake_fd = wake_.get();
  interrupted = continued = false;
  struct sigaction action = {};
  action.sa_handler = Handle;
  action.sa_flags = SA_RESTART;
  sigfillset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGWINCH, SIGCONT}) {
    struct sigaction before = {};
    if (sigaction(signal, nullptr, &before) != 0 || before.sa_handler == SIG_IGN) continue;
    sigaction(signal, &action, nullptr);
    before_.emplace_back(signal, before);
  }
}

Signals::~Signals() {
  for (const auto& [signal, before] : before_) sigaction(signal, &before, nullptr);
  wake_fd = -1;
}

void Signals::Wake() const { WakeUp(wake_.get()); }

void Signals::Wait(double seconds) const {
  pollfd polled = {.fd = wake_.get(), .events = POLLIN, .revents = 0};
  poll(&polled, 1, static_cast<int>(seconds * 1000));
  uint64_t count = 0;
  [[maybe_unused]] const ssize_t ignored = read(wake_.get(), &count, sizeof count);
}

bool Signals::Interrupted() const { return interrupted; }

bool Signals::TakeContinued() { return continued.exchange(false); }

}  // namespace rekindle::cli
