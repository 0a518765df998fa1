// Topics that streams wait on: a version each, raised by every publication.
//
// Thread-compatible.
#ifndef REKINDLE_COORDINATOR_BULLETIN_H_
#define REKINDLE_COORDINATOR_BULLETIN_H_

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
    uint64_t seen = 0;           // Wake when the topic's version is above this,
    double not_before = 0;       // but not earlier than this,
    double deadline = kForever;  // or at this time whatever happened.
  };

  void Publish(const std::string& topic) { ++versions_[topic]; }
  // What it was about is gone: whoever waits on it is woken, and its versions begin anew.
  void Forget(const std::string& topic);
  uint64_t Version(const std::string& topic) const {
    const auto found = versions_.find(topic);
    return found == versions_.end() ? 0 : found->second;
  }

  // Calls `wake` once. `id` is the caller's, and waits once at a time. `wake` may call Await again.
  void Await(uint64_t id, const Wait& wait, std::function<void()> wake);
  // Wakes that caller now, if it waits.
  void Wake(uint64_t id);
  void WakeAll();
  void WakeDue(double now);
  // When WakeDue is to be called next.
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

#endif  // REKINDLE_COORDINATOR_BULLETIN_H_
