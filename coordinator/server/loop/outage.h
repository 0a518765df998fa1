// Keeps whether the state store can be written, and when to try again while it cannot.
#ifndef REKINDLE_COORDINATOR_SERVER_LOOP_OUTAGE_H_
#define REKINDLE_COORDINATOR_SERVER_LOOP_OUTAGE_H_

#include "absl/status/status.h"

namespace rekindle::coordinator {

// Outage is thread-compatible. `now` is in seconds of a clock that never goes back.
class Outage {
 public:
  bool lasts() const { return !error_.ok(); }
  // Returns the newest error of the store, or OK when the store can be written.
  const absl::Status& error() const { return error_; }
  double retry_at() const { return retry_at_; }
  // Returns whether a transaction may be tried now: either the last one succeeded, or the time for another try has
  // come.
  bool MayTry(double now) const { return !lasts() || now >= retry_at_; }

  // Takes note that a transaction has failed, and logs the failures from time to time. Returns whether it is the first
  // one of the outage.
  bool Failed(const absl::Status& error, double now);
  // Takes note that a transaction has succeeded.
  void End();

 private:
  absl::Status error_;
  double retry_at_ = 0;
  double retry_after_ = 0;
  double logged_at_ = 0;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_LOOP_OUTAGE_H_
