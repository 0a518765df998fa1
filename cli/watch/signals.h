// Handles the signals that matter while something is watched, and wakes the thread that waits for them.
#ifndef REKINDLE_CLI_WATCH_SIGNALS_H_
#define REKINDLE_CLI_WATCH_SIGNALS_H_

#include <signal.h>

#include <utility>
#include <vector>

#include "common/process/process.h"

namespace rekindle::cli {

// While a Signals lives, SIGINT, SIGTERM, SIGQUIT and SIGHUP interrupt Wait() instead of ending the program. Signals
// that were ignored already, as nohup does it, stay ignored. Signals uses handlers and no signalfd, because gRPC may
// have started threads, which would take the signals. A process may have only one Signals at a time. One thread must
// create and use it, but Wake() is thread-safe.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  void Wake() const;
  // Waits until a signal comes, Wake() is called, or the time is over.
  void Wait(double seconds) const;
  bool Interrupted() const;
  // Returns whether the program was stopped (Ctrl-Z) and continued since the last call.
  bool TakeContinued();

 private:
  common::UniqueFd wake_;
  std::vector<std::pair<int, struct sigaction>> before_;
};

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_WATCH_SIGNALS_H_
