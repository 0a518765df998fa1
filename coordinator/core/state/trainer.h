// Defines what the core knows of one trainer process.
#ifndef REKINDLE_COORDINATOR_CORE_STATE_TRAINER_H_
#define REKINDLE_COORDINATOR_CORE_STATE_TRAINER_H_

#include <cstddef>
#include <limits>
#include <string>
#include <variant>

#include "coordinator/core/state/recent.h"
#include "rekindle/v1/trainer.pb.h"

namespace rekindle::core {

// `kNever` is a time that never comes.
inline constexpr double kNever = std::numeric_limits<double>::infinity();

// A job remembers at most this many of its trainers.
inline constexpr size_t kMaxTrainers = 4096;

// A `RecentNames` is a set of names that is bounded. A full one forgets the name that was set longest ago.
using RecentNames = Recent<std::monostate>;

// Describes one trainer process.
struct Trainer {
  // `reported` says that the trainer itself has reported. If it is false, only the trainer's agent has spoken of it.
  bool reported = false;
  // `heard` is when the trainer's newest report arrived.
  double heard = -kNever;
  // `spoken_of` is when the trainer or its agent last spoke of the trainer (remembered.h).
  double spoken_of = -kNever;
  // `death` says how the trainer died, as in "was killed by signal 9 (agent of n2)", and is empty while the trainer is
  // not known to be dead. `death_kind` is the kind of that fault. `certain` says that the death is certain (fence.h).
  std::string death;
  std::string death_kind;
  bool certain = false;
  // `stopped_at` is when the trainer first reported its stop in its newest generation.
  double stopped_at = 0;
  // `left_out` says that the trainer did not stop in time during the running regroup.
  bool left_out = false;
  // `waits` says that the trainer has stopped in the running regroup. It stays true when the trainer's directive
  // changes.
  bool waits = false;
  // `report` is the report with the highest sequence number so far.
  v1::TrainerReport report;
};

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_STATE_TRAINER_H_
