// Decides which slots of the node are out of use because their GPU has failed, and when to ask the driver about them.
// It is a pure class without clock, file or process, so that every case can be tested. Times are seconds of one steady
// clock.
//
// A slot whose GPU cannot be used is out at once. A slot whose GPU has only lost a trainer's context is used again, and
// is out when that happens twice within `context_seconds`. The driver is asked at once when a slot goes out. The slot
// comes back when it was out for `first_seconds` and the driver finds nothing wrong with the GPU. After each further
// failure it stays out twice as long, so that a GPU of which the driver knows nothing bad costs less and less.
#ifndef REKINDLE_WORKER_AGENT_DECISIONS_SLOT_HEALTH_H_
#define REKINDLE_WORKER_AGENT_DECISIONS_SLOT_HEALTH_H_

#include <map>
#include <string>

namespace rekindle::agent {

struct SlotHealthPolicy {
  double context_seconds = 600;
  double first_seconds = 60;
  double longest_seconds = 960;
};

// Says why a slot is out of use.
struct SlotFault {
  std::string words;
  // `driver_says_so` is set if the driver itself finds something wrong with the GPU.
  bool driver_says_so = false;
};

// SlotHealth is thread-compatible.
class SlotHealth {
 public:
  explicit SlotHealth(SlotHealthPolicy policy = {}) : policy_(policy) {}

  // Takes that a trainer in the slot has ended with this exit code (common/agreed/exit_codes.h). `words` says why. Exit
  // codes that say nothing of a GPU are ignored.
  void TrainerEnded(int slot, int exit_code, const std::string& words, double now);
  // Takes what is wrong with the slot's GPU by the driver's list. If `found` has no words, nothing is.
  void DriverSaid(int slot, const SlotFault& found, double now);
  // Takes that the driver was asked and did not answer. Slots that are in use stay so.
  void DriverWasSilent(double now);

  bool IsOut(int slot) const { return faults_.contains(slot); }
  const std::map<int, SlotFault>& faults() const { return faults_; }
  // Returns when to ask the driver. It is infinite if no slot is out.
  double ask_at() const;

 private:
  struct History {
    double context_lost_at;
    // `failures` counts how often the slot was out. The count starts again when the slot was in use for
    // `longest_seconds`.
    int failures = 0;
    // `changed_at` is when the slot last came into use or went out of it.
    double changed_at;
    double out_until = 0;
    double ask_at = 0;
  };
  void TakeOut(int slot, SlotFault fault, double now);
  History& HistoryOf(int slot);

  SlotHealthPolicy policy_;
  std::map<int, History> history_;
  std::map<int, SlotFault> faults_;
};

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_DECISIONS_SLOT_HEALTH_H_
