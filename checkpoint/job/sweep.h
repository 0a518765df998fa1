// Removes checkpoints of a job and the files that are no longer needed, in an order that is safe beside writers, beside
// processes that pin, and beside other collections. collector.h decides which checkpoints go.
#ifndef REKINDLE_CHECKPOINT_JOB_SWEEP_H_
#define REKINDLE_CHECKPOINT_JOB_SWEEP_H_

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checkpoint/format/retention.h"
#include "checkpoint/job/job_checkpoints.h"
#include "checkpoint/job/job_folder.h"

namespace rekindle::checkpoint {

struct Collected {
  // `verdicts` has one verdict for every checkpoint, newest first.
  std::vector<Verdict> verdicts;
  // `manifests` names the checkpoints that were removed.
  std::vector<std::string> manifests;
  int shards = 0;
  int temporary = 0;
  int64_t bytes = 0;
};

// Recovers from a sweep that died after it had removed a manifest. If a process pinned the checkpoint meanwhile, it was
// promised that the checkpoint stays, so the manifest is put back. The function is called before a new sweep is
// planned.
absl::Status RecoverSweep(const JobFolder& folder);

// Removes checkpoints once, and reports in `Collected` what it removed.
class Sweep {
 public:
  struct Options {
    // `now` is the time of the sweep in Unix seconds.
    double now = 0;
    // A file that no manifest names stays for `grace_seconds`, because it may belong to a checkpoint that is being
    // written.
    double grace_seconds = 0;
    // If `dry_run` is set, the sweep only reports what it would remove.
    bool dry_run = false;
  };
  // `keep` has the checkpoints that stay, and `drop` those that are removed. Together they are all checkpoints that the
  // job has.
  struct Plan {
    std::vector<StoredCheckpoint> keep, drop;
    std::vector<Verdict> verdicts;
  };

  Sweep(JobFolder folder, const Options& options, Plan plan)
      : folder_(std::move(folder)),
        options_(options),
        keep_(std::move(plan.keep)),
        drop_(std::move(plan.drop)),
        done_{.verdicts = std::move(plan.verdicts)} {}

  absl::StatusOr<Collected> Run();

 private:
  using Names = std::set<std::string>;

  absl::Status RemoveManifests();
  absl::Status PutBackPinned();
  absl::Status FindOrphans();
  absl::Status RemoveOrphans();
  absl::Status RemoveLeftovers();
  absl::Status RemoveOld(const std::string& folder, const std::function<bool(const std::string&)>& which);

  void Spare(const StoredCheckpoint& checkpoint, const std::string& reason);
  absl::StatusOr<Names> NamedSince();
  bool IsOld(double modified) const { return options_.now - modified > options_.grace_seconds; }
  // Removes a file, unless the sweep is a dry run.
  absl::Status Remove(const std::string& path);

  const JobFolder folder_;
  const Options options_;
  std::vector<StoredCheckpoint> keep_, drop_;
  // `texts_` has the content of the removed manifests, so that they can be put back.
  std::map<std::string, std::string> texts_;
  // `orphans_` maps the shards that nothing names to their sizes.
  std::map<std::string, int64_t> orphans_;
  Collected done_;
};

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_JOB_SWEEP_H_
