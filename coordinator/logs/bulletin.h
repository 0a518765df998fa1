// Wakes those who wait for news, for example the streams that follow a log or the events. Each kind of news is a topic.
// Each topic has a version, which every publication raises.
//
// A Bulletin is thread-compatible.
#ifndef REKINDLE_COORDINATOR_LOGS_BULLETIN_H_
#define REKINDLE_COORDINATOR_LOGS_BULLETIN_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>

namespace rekindle::coordinator {

inline constexpr double kForever = std::numeric_limits<double>::infinity();

class Bulletin {
 public:
  struct Wait {
    std::string topic;
    // The caller of Await is woken when the version of the topic is above `seen`, but not earlier than `not_before`. At
    // `deadline` it is woken in any case.
    uint64_t seen = 0;
    double not_before = 0;
    double deadline = kForever;
  };

  void Publish(const std::string& topic) { ++versions_[topic]; }
  // Removes a topic, such as the one of a job that was forgotten. Everybody who waits for its news is woken, and its
  // versions begin anew.
  void Forget(const std::string& topic);
  uint64_t Version(const std::string& topic) const {
    const auto found = versions_.find(topic);
    return found == versions_.end() ? 0 : found->second;
  }

  // Waits for news without blocking: `wake` is called once, when `wait` is over. The caller chooses `id`, and only one
  // wait per id may be open at a time. `wake` may call Await again.
  void Await(uint64_t id, const Wait& wait, std::function<void()> wake);
  // Ends the wait with the given `id` now, if that wait is open.
  void Wake(uint64_t id);
  void WakeAll();
  void WakeDue(double now);
  // Returns the time at which WakeDue has to be called next.
  double NextDue() const;

 private:
  struct Waiter {
    Wait wait;
    std::function<void()> wake;
  };
  double DueAt(const Wait& wait) const {
    return Version(wait.topic) > wait.seen ? std::min(wait.not_before, wait.deadline) : wait.deadline;
  }

  std::map<std::string, uint64_t> versions_;
  std::map<uint64_t, Waiter> waiters_;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_LOGS_BULLETIN_H_
