// Decides which checkpoints of a job stay, which are removed and which are archived. The decision is a pure function
// that gives a reason for each.
#ifndef REKINDLE_CHECKPOINT_FORMAT_RETENTION_H_
#define REKINDLE_CHECKPOINT_FORMAT_RETENTION_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace rekindle::checkpoint {

inline constexpr double kDefaultArchiveSeconds = 90 * 24 * 3600.0;

// Holds the retention rules of a job (`checkpoint:` in a job file). Each rule keeps some checkpoints. Those that no
// rule keeps are removed.
struct Retention {
  // The newest `keep_last` whole checkpoints stay. With 0 all checkpoints stay, whatever the other rules say.
  int keep_last = 0;
  // The first checkpoint at or after each multiple of `keep_every` steps stays. With 0 the rule keeps none.
  int keep_every = 0;
  // The `keep_best` whole checkpoints with the lowest validation loss stay.
  int keep_best = 0;
  // Checkpoints that stay longer than `archive_seconds` move to `archive_store`. If that is empty, none are moved.
  std::string archive_store;
  double archive_seconds = kDefaultArchiveSeconds;

  bool operator==(const Retention&) const = default;
};

// Returns INVALID_ARGUMENT if a number of the rules is negative.
absl::Status CheckRetention(const Retention& retention);

struct Candidate {
  std::string name;
  int step = 0;
  // `written` is the time at which the checkpoint was written to its store, in Unix seconds.
  double written = 0;
  // `whole` says that the checkpoint is complete, as far as its manifest and the sizes of its files show.
  bool whole = false;
  std::optional<double> validation_loss;
};

enum class Fate { kKeep, kArchive, kRemove };

struct Verdict {
  std::string name;
  Fate fate = Fate::kKeep;
  // `reason` says why the checkpoint has this fate, for example "is one of the newest 2" or "is pinned".
  std::string reason;

  bool operator==(const Verdict&) const = default;
};

// Returns one verdict per checkpoint in the order of `newest_first`. `now` is Unix time in seconds.
//   - Pinned checkpoints stay and are not archived.
//   - A checkpoint that is not whole is removed once `keep_last` whole checkpoints are newer. It is not counted among
//   these, so that it does not push out the last checkpoint that can be restored.
//   - If checkpoints are of later steps than the newest one by name, they stay. The job was rolled back to an earlier
//   step, perhaps by mistake.
//   - Among equal steps and equal validation losses the newer checkpoint is chosen.
std::vector<Verdict> Decide(const std::vector<Candidate>& newest_first, const Retention& retention,
                            const std::set<std::string>& pinned, double now);

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_FORMAT_RETENTION_H_
