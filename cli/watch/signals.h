// The signals that matter while something is watched, and a way to wake who waits for them.
#ifndef REKINDLE_CLI_WATCH_SIGNALS_H_
#define REKINDLE_CLI_WATCH_SIGNALS_H_

#include <signal.h>

#include <utility>
#include <vector>

#include "common/process.h"

namespace rekindle::cli {

// While it lives, SIGINT, SIGTERM, SIGQUIT and SIGHUP interrupt the wait instead of ending the program, but for those
// that were ignored already, as nohup does it. Handlers and no signalfd: gRPC may have threads by now, which would take
// the signals. One at a time in a process, made and asked by one thread; Wake() is thread-safe.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  void Wake() const;
  // Until a signal comes, somebody wakes it, or the time is over.
  void Wait(double seconds) const;
  bool Interrupted() const;
  // Whether the program was stopped (Ctrl-Z) and goes on, since the last call.
  bool TakeContinued();

 private:
  common::UniqueFd wake_;
  std::vector<std::pair<int, struct sigaction>> before_;
};

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_WATCH_SIGNALS_H_
