// Holds why and until when this node drains. SIGTERM, notices, or both may ask for it. The class is pure, and times are
// steady seconds.
#ifndef REKINDLE_WORKER_AGENT_DECISIONS_DRAIN_H_
#define REKINDLE_WORKER_AGENT_DECISIONS_DRAIN_H_

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "worker/agent/notices/judge.h"

namespace rekindle::agent {

class DrainState {
 public:
  // The first SIGTERM sets the limit of the drain. A second one means that the sender does not want to wait.
  void Signalled(double now, double within_seconds) {
    signal_until_ = signalled_ ? now : now + within_seconds;
    signalled_ = true;
  }
  // Takes the verdict of all interruption notices that stand now. Notices may be withdrawn, but a signal may not.
  void Noticed(Verdict verdict) { verdict_ = std::move(verdict); }

  bool draining() const { return signalled_ || verdict_.leaves; }
  bool signalled() const { return signalled_; }
  // Returns the time at which the drain must end, or infinity if it has no limit.
  double until() const { return std::min(signal_until_, verdict_.leaves ? verdict_.leave_at : kNever); }
  std::string reason() const { return verdict_.leaves ? verdict_.reason : "the node was told to stop (SIGTERM)"; }
  const std::string& hint() const { return verdict_.hint; }

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  bool signalled_ = false;
  double signal_until_ = kNever;
  Verdict verdict_;
};

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_DECISIONS_DRAIN_H_
