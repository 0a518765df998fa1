// Keeps the long polls that wait for their directive to change. A poll costs a few hundred bytes and no thread.
//
// This class is thread-compatible: the loop's thread owns it.
#ifndef REKINDLE_COORDINATOR_SERVER_BOARDS_POLL_TABLE_H_
#define REKINDLE_COORDINATOR_SERVER_BOARDS_POLL_TABLE_H_

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

// REQUIRES: `Directive` has a member function `revision()`.
template <typename Key, typename Directive>
class PollTable {
 public:
  using Reply = std::function<void(absl::StatusOr<Directive>)>;
  // Returns the directive that the polls of a key wait for. When its revision is `known_revision`, which the caller of
  // the poll already has, the directive has no other field set.
  using Answer = std::function<absl::StatusOr<Directive>(const Key&, int32_t known_revision)>;

  // Returns whether the caller that sent the poll is still waiting.
  using Alive = std::function<bool()>;

  void Add(
      const Key& key, int32_t known_revision, double deadline, Reply reply, Alive alive = [] { return true; }) {
    polls_[key].push_back({known_revision, deadline, std::move(reply), std::move(alive)});
    deadlines_.emplace(deadline, key);
  }

  // Answers the newest poll of `key` when the revision of its directive differs from the one that the caller already
  // has. Answers all older polls of `key` in any case.
  void Check(const Key& key, const Answer& answer) {
    if (const auto found = polls_.find(key); found != polls_.end()) CheckAt(found, answer);
  }
  void CheckAll(const Answer& answer) {
    for (auto it = polls_.begin(); it != polls_.end();) it = CheckAt(it, answer);
  }
  // Answers the polls of the keys from `first` on as Check does, up to the first key for which `in_range` is false.
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

  // The newest poll is answered with the directive whose revision was compared. That directive is not made a second
  // time, because it may be large.
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

  // Answers and removes the polls of the key at `at` for which `chosen` returns true. Returns the position after that
  // key.
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

#endif  // REKINDLE_COORDINATOR_SERVER_BOARDS_POLL_TABLE_H_
