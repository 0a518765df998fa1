// Computes until when this machine may run without a coordinator. The limits are those of the coordinator's last
// answer, counted from the moment at which the request was sent. A machine that costs money and cannot be reached ends
// itself.
//
// The class is pure. Times are seconds of a clock that goes on while the machine sleeps.
#ifndef REKINDLE_WORKER_AGENT_DECISIONS_ALONE_H_
#define REKINDLE_WORKER_AGENT_DECISIONS_ALONE_H_

#include <limits>
#include <optional>
#include <string>

namespace rekindle::agent {

class Alone {
 public:
  // `first_seconds` is how long it may take from `now` until the first answer of a coordinator. 0 means without limit.
  Alone(double now, double first_seconds);

  // Restores the limits that an earlier agent wrote with Text(). If it wrote them in an earlier boot, only the time
  // that the machine may be alone counts, and it starts at `now`. Any other text is ignored.
  void Recall(const std::string& text, const std::string& boot, double now);

  // Takes a coordinator's answer to a request sent at `sent`. An `alone_seconds` of 0 means without limit. Without
  // `spend_seconds` the jobs on this machine may spend without limit. But if `keeps_spending` is set, the answering
  // coordinator does not know these jobs, and their earlier limit stays.
  void Heard(double sent, double alone_seconds, std::optional<double> spend_seconds, bool keeps_spending);

  // Returns until when the machine may run without a coordinator, or infinity if there is no limit.
  double until() const;
  std::string Text(const std::string& boot) const;

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  double alone_until_ = kNever;
  double spend_until_ = kNever;
  // `alone_seconds_` is how long the machine may be alone, as the coordinator's last answer says.
  double alone_seconds_ = 0;
};

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_DECISIONS_ALONE_H_
