// Long polls that wait for their directive to change: a few hundred bytes each, no thread.
//
// Thread-compatible: the loop's thread owns it.
#ifndef REKINDLE_COORDINATOR_SERVER_POLL_TABLE_H_
#define REKINDLE_COORDINATOR_SERVER_POLL_TABLE_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace rekindle::coordinator {

// Directive has revision().
template <typename Key, typename Directive>
class PollTable {
 public:
  using Reply = std::function<void(absl::StatusOr<Directive>)>;
  // With the known revision for its revision a directive has nothing else set.
  using Answer = std::function<absl::StatusOr<Directive>(const Key&, int32_t known_revision)>;

  // Whether whoever asked still waits.
  using Alive = std::function<bool()>;

  void Add(
      const Key& key, int32_t known_revision, double deadline, Reply reply, Alive alive = [] { return true; }) {
    polls_[key].push_back({known_revision, deadline, std::move(reply), std::move(alive)});
    deadlines_.emplace(deadline, key);
  }

  // Answers what `key` waits for when the revision differs from the known one, and all but its newest poll.
  void Check(const Key& key, const Answer& answer) {
    if (const auto found = polls_.find(key); found != polls_.end()) CheckAt(found, answer);
  }
  void CheckAll(const Answer& answer) {
    for (auto it = polls_.begin(); it != polls_.end();) it = CheckAt(it, answer);
  }
  // Keys from `first` on for which `in_range` holds.
  template <typename InRange>
  void CheckFrom(const Key& first, InRange in_range, const Answer& answer) {
    for (auto it = polls_.lower_bound(first); it != polls_.end() && in_range(it->first);) it = CheckAt(it, answer);
  }

  void Expire(double now, const Answer& answer) {
    while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
      Take(polls_.find(deadlines_.begin()->second), ToEach(answer),
           [now](const Poll& poll) { return poll.deadline <= now; });
    }
  }
  double NextDeadline() const {
    return deadlines_.empty() ? std::numeric_limits<double>::infinity() : deadlines_.begin()->first;
  }

  void AnswerAll(const absl::Status& status) {
    const auto answer = [&](const Key&, const Poll&) { return absl::StatusOr<Directive>(status); };
    while (!polls_.empty()) Take(polls_.begin(), answer, [](const Poll&) { return true; });
  }
  bool AnyAlive(const Key& key) const {
    const auto found = polls_.find(key);
    return found != polls_.end() &&
           std::any_of(found->second.begin(), found->second.end(), [](const Poll& poll) { return poll.alive(); });
  }
  size_t size() const { return deadlines_.size(); }

 private:
  struct Poll {
    int32_t known_revision;
    double deadline;
    Reply reply;
    Alive alive;
  };
  using Polls = std::map<Key, std::vector<Poll>>;

  static auto ToEach(const Answer& answer) {
    return [&answer](const Key& key, const Poll& poll) { return answer(key, poll.known_revision); };
  }

  // A directive may be large, so that the newest poll gets the very one that was looked at.
  typename Polls::iterator CheckAt(typename Polls::iterator at, const Answer& answer) {
    const Poll* newest = &at->second.back();
    absl::StatusOr<Directive> directive = answer(at->first, newest->known_revision);
    const bool stands = directive.ok() && newest->known_revision == directive->revision();
    return Take(
        at,
        [&](const Key& key, const Poll& poll) {
          return &poll == newest ? std::move(directive) : answer(key, poll.known_revision);
        },
        [&](const Poll& poll) { return &poll != newest || !stands; });
  }

  // Answers and removes the polls that `chosen` names; returns what follows the key.
  template <typename AnswerTo, typename Chosen>
  typename Polls::iterator Take(typename Polls::iterator at, const AnswerTo& answer, Chosen chosen) {
    std::vector<Poll> kept;
    for (const Poll& poll : at->second) {
      if (!chosen(poll)) {
        kept.push_back(poll);
        continue;
      }
      deadlines_.erase(deadlines_.find({poll.deadline, at->first}));
      poll.reply(answer(at->first, poll));
    }
    at->second = std::move(kept);
    return at->second.empty() ? polls_.erase(at) : std::next(at);
  }

  Polls polls_;
  std::multiset<std::pair<double, Key>> deadlines_;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_POLL_TABLE_H_
