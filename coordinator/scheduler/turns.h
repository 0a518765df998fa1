// Whose turn it is to get a slot: fairness between teams.
#ifndef REKINDLE_COORDINATOR_SCHEDULER_TURNS_H_
#define REKINDLE_COORDINATOR_SCHEDULER_TURNS_H_

#include <algorithm>
#include <map>
#include <queue>
#include <utility>
#include <vector>

#include "coordinator/scheduler/share_out.h"

namespace rekindle::scheduler {

// Jobs that wait for their turn: of the team that uses least for its share, the first in order. `usage` is of teams, in
// nodes, and may change between Next and Served. Thread-compatible.
class Turns {
 public:
  Turns(const std::vector<Team>& teams, const std::vector<double>& usage) : teams_(teams), usage_(usage) {}

  // Within a team the lowest `rank`, then the first job goes first.
  void Add(int team, int rank, int job) {
    Queue& queue = queues_[team];
    if (queue.empty()) due_.push({-Use(team), -team});
    queue.push({-rank, -job});
  }
  bool Empty() const { return due_.empty(); }
  int Next() {
    const int team = -due_.top().second;
    due_.pop();
    Queue& queue = queues_[team];
    const int job = -queue.top().second;
    queue.pop();
    waiting_ = queue.empty() ? kNone : team;
    return job;
  }
  // After what Next answered has been served: its team's use may have changed.
  void Served() {
    if (waiting_ != kNone && !queues_[waiting_].empty()) due_.push({-Use(waiting_), -waiting_});
    waiting_ = kNone;
  }

 private:
  static constexpr double kLeastShare = 1e-9;
  using Queue = std::priority_queue<std::pair<int, int>>;
  double Use(int team) const { return usage_[team] / std::max(kLeastShare, teams_[team].share); }

  const std::vector<Team>& teams_;
  const std::vector<double>& usage_;
  std::map<int, Queue> queues_;
  std::priority_queue<std::pair<double, int>> due_;
  int waiting_ = kNone;
};

}  // namespace rekindle::scheduler

#endif  // REKINDLE_COORDINATOR_SCHEDULER_TURNS_H_
