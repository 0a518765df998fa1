// What the planner sees and what it answers. Plain values: no clock, thread, socket or file.
//
// Times are hours since the job was submitted, durations hours, prices money per node and hour.
// A job is made of units: a job of a fixed number of nodes (a gang) is one unit of that size, held in one pool; an
// elastic job is one unit a node, each in any pool.
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
  double speed = 1;                    // Work of a node in an hour: hours of JobView are of nodes of speed 1.
  int available = 0;                   // Nodes that could run there now, those of the job included.
  double grams = 0;                    // CO2 of a node in an hour, now.
  std::vector<double> expected_grams;  // The same in each hour from now on; empty: not known.
};

struct UnitView {
  int pool = kNone;
  double starting_hours = 0;  // How long its start has taken so far; 0 once it works.
  int last_pool = kNone;      // Where it was interrupted.
  int leaving = kNone;        // Where it goes on working until its start in `pool` is done.
};

struct JobView {
  int unit_nodes = 1;
  double total_hours = 0;  // Work of the whole job, were all units working from the start.
  double hours_left = 0;   // Of these; starts in progress not counted.
  double deadline = kNever;
  double budget_left = kNever;
  int starts = 0;  // Of units, so far.
  std::vector<UnitView> units;
  Recovery recovery;    // How long starts take.
  SpotHistory history;  // How long spot capacity comes and stays.
};

enum class Objective { kCheapest, kGreenest, kFastest };
enum class Allowed { kMixed, kSpot, kOnDemand };

struct Policy {
  Objective objective = Objective::kCheapest;
  Allowed capacity = Allowed::kMixed;
  double period = 1.0 / 60;  // The next look comes after so long.
  double margin_share =
      0.05;  // Of the slack, kept for on-demand capacity that is refused at first; at most half an hour.
  double green_premium = 0.02;  // `kGreenest` may cost so much more than `kCheapest`, as a share.
};

// One unit is to be in `pool` from now on (kNone: nowhere).
struct Action {
  int unit = 0;
  int pool = kNone;
  std::string reason;
};

}  // namespace rekindle::scheduler

#endif  // REKINDLE_COORDINATOR_SCHEDULER_TYPES_H_
