// Where a checkpoint verb works: a job's store, asked of the coordinator, or --store URI --job-uid UID without one.
#ifndef REKINDLE_CLI_CHECKPOINT_PLACE_H_
#define REKINDLE_CLI_CHECKPOINT_PLACE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "checkpoint/retention.h"
#include "checkpoint/store.h"
#include "cli/context.h"

namespace rekindle::cli {

// The positional arguments of a verb and what stands for their first one.
struct PlaceFlags {
  std::vector<std::string> args;  // JOB ARG...; or ARG... with --store.
  std::string store;
  std::string job_uid;
};
// `usage`: what the arguments are, as "JOB CHECKPOINT".
std::shared_ptr<PlaceFlags> AddPlace(CLI::App* verb, const std::string& usage);

struct Place {
  std::string job;  // As the user calls it.
  std::string store;
  std::string uid;
  std::vector<std::string> args;    // Without the job.
  checkpoint::Retention retention;  // Of the job's spec; with --store: nothing is removed.
};
// Throws CLI::ValidationError (wrong use) unless at least `least` and at most `most` arguments follow the job.
absl::StatusOr<Place> PlaceOf(Context& context, const PlaceFlags& flags, size_t least, size_t most);

// Opens a store; grace as the service has it.
absl::StatusOr<checkpoint::Store> OpenStore(const std::string& uri);
// The newest that is whole by sizes. NOT_FOUND.
absl::StatusOr<std::string> NewestOf(checkpoint::Store& store, const Place& place);

// A bar on stderr while something takes long, where that is a terminal that can be drawn on; nothing with -o json.
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

#endif  // REKINDLE_CLI_CHECKPOINT_PLACE_H_
