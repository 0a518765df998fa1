// Until when this machine may run without a coordinator: as that said last, counted from the moment at which it was
// asked. A machine that costs money and serves nobody that can be reached ends itself.
//
// Pure; times are seconds that go on while the machine sleeps.
#ifndef REKINDLE_WORKER_AGENT_ALONE_H_
#define REKINDLE_WORKER_AGENT_ALONE_H_

#include <limits>
#include <optional>
#include <string>

namespace rekindle::agent {

class Alone {
 public:
  // `first_seconds`: how long it may take from `now` until a coordinator is heard of; 0: for ever.
  Alone(double now, double first_seconds);

  // What an earlier agent had heard, as Text() says. Of an earlier boot only how long the machine may be alone counts,
  // from `now`; anything else counts for nothing.
  void Recall(const std::string& text, const std::string& boot, double now);

  // The answer to a request sent at `sent`. `alone_seconds`: 0 is for ever. `spend_seconds`: without one, the jobs here
  // may spend without end; but where `keeps_spending` what was told before counts on, as the one that answers does not
  // know them.
  void Heard(double sent, double alone_seconds, std::optional<double> spend_seconds, bool keeps_spending);

  // Infinite: for ever.
  double until() const;
  std::string Text(const std::string& boot) const;

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  double alone_until_ = kNever;
  double spend_until_ = kNever;
  double alone_seconds_ = 0;  // As it was told last.
};

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_ALONE_H_
