// This file holds what the planner sees and what it answers, as plain values without a clock, thread, socket or file.
//
// Times are hours since the job was submitted, durations are hours, and prices are money per node and hour. A job is
// made of units. A job of a fixed number of nodes (a gang) is one unit of that size, held in one pool. An elastic job
// has one unit for each node, and each unit may be in any pool.
#ifndef REKINDLE_COORDINATOR_SCHEDULER_TYPES_H_
#define REKINDLE_COORDINATOR_SCHEDULER_TYPES_H_

#include <limits>
#include <string>
#include <vector>

#include "coordinator/scheduler/history.h"
#include "coordinator/scheduler/recovery.h"

namespace rekindle::scheduler {

inline constexpr int kNone = -1;
inline constexpr double kNever = std::numeric_limits<double>::infinity();

enum class Capacity { kSpot, kOnDemand };

struct PoolView {
  std::string name;
  Capacity capacity = Capacity::kSpot;
  double price = 0;
  // `speed` is the work that a node does in an hour. The hours of a JobView are hours of nodes of speed 1.
  double speed = 1;
  // `available` counts the nodes that could run in the pool now, including those of the job.
  int available = 0;
  // `grams` is the CO2 that a node emits in an hour now.
  double grams = 0;
  // `expected_grams` is what a node is expected to emit in each hour from now on. It is empty where that is not known.
  std::vector<double> expected_grams;
};

struct UnitView {
  int pool = kNone;
  // `starting_hours` says how long the unit's start has taken so far. It is 0 once the unit works.
  double starting_hours = 0;
  // `last_pool` is the pool in which the unit was interrupted.
  int last_pool = kNone;
  // `leaving` is the pool in which the unit goes on working until its start in `pool` is done.
  int leaving = kNone;
};

struct JobView {
  int unit_nodes = 1;
  // `total_hours` is how long the whole job takes if all units work from the start.
  double total_hours = 0;
  // `hours_left` is the part of `total_hours` that is still to be worked. It does not count starts in progress.
  double hours_left = 0;
  double deadline = kNever;
  double budget_left = kNever;
  // `starts` counts how often a unit has been started so far.
  int starts = 0;
  std::vector<UnitView> units;
  // `recovery` says how long starts take.
  Recovery recovery;
  // `history` says how long spot capacity stays and how long it stays away.
  SpotHistory history;
};

enum class Objective { kCheapest, kGreenest, kFastest };
enum class Allowed { kMixed, kSpot, kOnDemand };

struct Policy {
  Objective objective = Objective::kCheapest;
  Allowed capacity = Allowed::kMixed;
  // `period` is the time until the next planning cycle.
  double period = 1.0 / 60;
  // `margin_share` is the share of the slack that is kept in case on-demand capacity is refused at first. That margin
  // is at most half an hour.
  double margin_share = 0.05;
  // `green_premium` is how much more a `kGreenest` job may cost than a `kCheapest` one, as a share.
  double green_premium = 0.02;
};

// An Action says that one unit has to be in `pool` from now on. `kNone` means that it runs nowhere.
struct Action {
  int unit = 0;
  int pool = kNone;
  std::string reason;
};

}  // namespace rekindle::scheduler

#endif  // REKINDLE_COORDINATOR_SCHEDULER_TYPES_H_
