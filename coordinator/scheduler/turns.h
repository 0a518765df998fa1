// This file decides which job gets the next slot, so that teams are treated fairly.
#ifndef REKINDLE_COORDINATOR_SCHEDULER_TURNS_H_
#define REKINDLE_COORDINATOR_SCHEDULER_TURNS_H_

#include <algorithm>
#include <map>
#include <queue>
#include <utility>
#include <vector>

#include "coordinator/scheduler/demand.h"
#include "coordinator/scheduler/types.h"

namespace rekindle::scheduler {

// Turns holds the jobs that wait for a slot. The next one is from the team that uses least relative to its share.
// `usage` holds the nodes of each team, and it may change between Next and Served. The class is thread-compatible.
class Turns {
 public:
  Turns(const std::vector<Team>& teams, const std::vector<double>& usage) : teams_(teams), usage_(usage) {}

  // Adds a job. Within a team the job with the lowest `rank` goes first, and of equal ones the job with the lowest
  // number.
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
  // The caller must call Served after it has served the job that Next returned, because the usage of that job's team
  // may have changed.
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
