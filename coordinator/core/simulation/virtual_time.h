// Provides virtual time and a seeded source of chance. This is for tests only.
#ifndef REKINDLE_COORDINATOR_CORE_SIMULATION_VIRTUAL_TIME_H_
#define REKINDLE_COORDINATOR_CORE_SIMULATION_VIRTUAL_TIME_H_

#include <cstdint>
#include <functional>
#include <queue>
#include <random>
#include <vector>

namespace rekindle::core::simulation {

class Chance {
 public:
  explicit Chance(uint64_t seed) : engine_(seed) {}
  // The formula of a uniform distribution is written out, because the distributions of the standard library differ from
  // one implementation to another.
  double Uniform(double low, double high) {
    return low + (high - low) * static_cast<double>(engine_() >> 11) * 0x1p-53;
  }
  int Pick(int n) { return static_cast<int>(engine_() % static_cast<uint64_t>(n)); }
  bool Happens(double probability) { return Uniform(0, 1) < probability; }

 private:
  std::mt19937_64 engine_;
};

// A Queue runs events in order of time, then of scheduling.
class Queue {
 public:
  double now() const { return now_; }
  void At(double time, std::function<void()> run) {
    events_.push({time < now_ ? now_ : time, next_++, std::move(run)});
  }
  // Runs the next event if it is due before `end`. Returns false where there is none.
  bool RunOne(double end) {
    if (events_.empty() || events_.top().time > end) return false;
    Event event = events_.top();
    events_.pop();
    now_ = event.time;
    event.run();
    return true;
  }

 private:
  struct Event {
    double time;
    uint64_t order;
    std::function<void()> run;
    bool operator<(const Event& other) const { return time != other.time ? time > other.time : order > other.order; }
  };
  std::priority_queue<Event> events_;
  double now_ = 0;
  uint64_t next_ = 0;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_COORDINATOR_CORE_SIMULATION_VIRTUAL_TIME_H_
