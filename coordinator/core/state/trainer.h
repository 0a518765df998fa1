// Defines what is known of one trainer process.
#ifndef REKINDLE_COORDINATOR_CORE_STATE_TRAINER_H_
#define REKINDLE_COORDINATOR_CORE_STATE_TRAINER_H_

#include <cstddef>
#include <limits>
#include <string>
#include <variant>

#include "coordinator/core/state/recent.h"
#include "rekindle/v1/trainer.pb.h"

namespace rekindle::core {

// A time that never comes.
inline constexpr double kNever = std::numeric_limits<double>::infinity();

// A job remembers at most this many of its trainers.
inline constexpr size_t kMaxTrainers = 4096;

// Holds the names that were heard of last.
using RecentNames = Recent<std::monostate>;

// Describes one trainer process.
struct Trainer {
  // If it is false, only the trainer's agent has spoken of the trainer.
  bool reported = false;
  // The trainer's newest report arrived at this time.
  double heard = -kNever;
  // The trainer or its agent last spoke of the trainer at this time (remembered.h).
  double spoken_of = -kNever;
  // `death` says how it died, as in "was killed by signal 9 (agent of n2)", and is empty while it is not known to be
  // dead. `death_kind` is the kind of that fault. `certain` says that the death is certain (fence.h).
  std::string death;
  std::string death_kind;
  bool certain = false;
  // The trainer first reported its stop in its newest generation at this time.
  double stopped_at = 0;
  // The trainer did not stop in time during the running regroup.
  bool left_out = false;
  // The trainer has stopped in the running regroup. What it is told may change.
  bool waits = false;
  // The report has the highest sequence number so far.
  v1::TrainerReport report;
};

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_STATE_TRAINER_H_
