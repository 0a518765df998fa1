// Which checkpoints of a job stay, which go and which become cold: a pure function, with a reason for each.
#ifndef REKINDLE_CHECKPOINT_RETENTION_H_
#define REKINDLE_CHECKPOINT_RETENTION_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace rekindle::checkpoint {

inline constexpr double kDefaultArchiveSeconds = 90 * 24 * 3600.0;

// What a job says about it (checkpoint: in a job file). Each rule keeps; what none keeps goes.
struct Retention {
  int keep_last = 0;   // The newest whole ones. 0: all stay, whatever else is said.
  int keep_every = 0;  // The first at or after each multiple of so many steps. 0: none.
  int keep_best = 0;   // Those with the lowest validation loss.
  // What stays longer than `archive_seconds` moves to this store. Empty: nothing does.
  std::string archive_store;
  double archive_seconds = kDefaultArchiveSeconds;

  bool operator==(const Retention&) const = default;
};

// INVALID_ARGUMENT for a negative number.
absl::Status CheckRetention(const Retention& retention);

struct Candidate {
  std::string name;
  int step = 0;
  double written = 0;  // Unix seconds.
  bool whole = false;  // As far as manifest and sizes tell.
  std::optional<double> validation_loss;
};

enum class Fate { kKeep, kArchive, kRemove };

struct Verdict {
  std::string name;
  Fate fate = Fate::kKeep;
  std::string reason;  // "is one of the newest 2", "is pinned", ...

  bool operator==(const Verdict&) const = default;
};

// One verdict a candidate, in the order given: newest first. `now` is Unix time.
//   - What is pinned stays, and stays hot.
//   - What is not whole is never counted, so that the last that can be restored does not go because of it; it goes
//     itself once keep_last whole ones are newer.
//   - What holds a later step than the newest by name stays: the job went back behind it, perhaps by mistake.
//   - Among equal steps, and equal validation losses, the newer one is meant.
std::vector<Verdict> Decide(const std::vector<Candidate>& newest_first, const Retention& retention,
                            const std::set<std::string>& pinned, double now);

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_RETENTION_H_
