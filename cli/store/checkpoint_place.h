// Finds the checkpoints on which a checkpoint verb works: those in the store of a job, which the coordinator names, or
// without a coordinator those that the flags --store URI --job-uid UID name.
#ifndef REKINDLE_CLI_STORE_CHECKPOINT_PLACE_H_
#define REKINDLE_CLI_STORE_CHECKPOINT_PLACE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "checkpoint/format/retention.h"
#include "checkpoint/store/store.h"
#include "cli/shared/context.h"

namespace rekindle::cli {

// Holds the positional arguments of a verb and the flags that may replace the first one, the job.
struct PlaceFlags {
  // `args` is JOB ARG..., or ARG... if --store is given.
  std::vector<std::string> args;
  std::string store;
  std::string job_uid;
};
// Adds the positional arguments and the flags to a verb. `usage` names the arguments, for example "JOB CHECKPOINT".
std::shared_ptr<PlaceFlags> AddPlace(CLI::App* verb, const std::string& usage);

struct Place {
  // `job` is the name of the job as the user has given it.
  std::string job;
  std::string store;
  std::string uid;
  // `args` has the positional arguments without the job.
  std::vector<std::string> args;
  // `retention` has the rules of the job's spec on which checkpoints are kept. With --store it has no rules, so all
  // checkpoints are kept.
  checkpoint::Retention retention;
};
// Throws CLI::ValidationError (wrong use) unless at least `least` and at most `most` arguments follow the job.
absl::StatusOr<Place> PlaceOf(Context& context, const PlaceFlags& flags, size_t least, size_t most);

// Opens a store. It keeps a file that no manifest names for as long as the checkpoint service keeps such files.
absl::StatusOr<checkpoint::Store> OpenStore(const std::string& uri);
// Returns the job's newest checkpoint whose files are all there with the right sizes. Returns NOT_FOUND if there is
// none, and FAILED_PRECONDITION if a newer release has written a newer checkpoint.
absl::StatusOr<std::string> NewestOf(checkpoint::Store& store, const Place& place);

// Draws a progress bar on stderr during long work, if stderr is a terminal that can be drawn on. With -o json it draws
// nothing.
class ProgressBar {
 public:
  ProgressBar(const Context& context, std::string label);
  ~ProgressBar();
  void Show(int64_t done, int64_t total);

 private:
  const bool draws_;
  const std::string label_;
};

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_STORE_CHECKPOINT_PLACE_H_
