// Turns SIGTERM and SIGINT into a call of a function on a thread of its own.
#ifndef REKINDLE_WORKER_TRAIN_PROGRAM_SIGNAL_WATCH_H_
#define REKINDLE_WORKER_TRAIN_PROGRAM_SIGNAL_WATCH_H_

#include <pthread.h>

#include <csignal>
#include <functional>
#include <thread>
#include <utility>

namespace rekindle::train {

// Waits for SIGTERM or SIGINT and then calls `on_signal`, at most once. Only one SignalWatch may exist at a time.
class SignalWatch {
 public:
  explicit SignalWatch(std::function<void()> on_signal)
      : thread_([on_signal = std::move(on_signal)] {
          sigset_t set = Signals();
          int signal = 0;
          sigwait(&set, &signal);
          if (signal != SIGUSR1) on_signal();
        }) {}
  ~SignalWatch() {
    pthread_kill(thread_.native_handle(), SIGUSR1);
    thread_.join();
  }
  // Blocks the signals that a SignalWatch waits for. Block() must be called before any thread starts.
  static void Block() {
    sigset_t set = Signals();
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
  }

 private:
  static sigset_t Signals() {
    sigset_t set;
    sigemptyset(&set);
    for (int signal : {SIGTERM, SIGINT, SIGUSR1}) sigaddset(&set, signal);
    return set;
  }
  std::thread thread_;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_PROGRAM_SIGNAL_WATCH_H_
