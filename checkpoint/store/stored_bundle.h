// Keeps the code of a job beside its checkpoints: the packed bundle (common/bundle/bundle.h) that job.json names.
#ifndef REKINDLE_CHECKPOINT_STORE_STORED_BUNDLE_H_
#define REKINDLE_CHECKPOINT_STORE_STORED_BUNDLE_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checkpoint/job/job_folder.h"

namespace rekindle::checkpoint {

// The class is as thread-safe as the backend of its folder. An address that cannot be is INVALID_ARGUMENT.
class StoredBundle {
 public:
  explicit StoredBundle(JobFolder folder) : folder_(std::move(folder)) {}

  // Writes the bundle, durable on return. DATA_LOSS says that the bytes are not the bundle `address`.
  absl::Status Put(const std::string& address, const std::string& packed);
  absl::StatusOr<bool> IsThere(const std::string& address);
  // Returns the addresses of all bundles of the job.
  absl::StatusOr<std::vector<std::string>> Addresses();
  // Returns the packed bundle, or DATA_LOSS if it is damaged. NOT_FOUND says that there is none.
  absl::StatusOr<std::string> Read(const std::string& address);

 private:
  absl::Status Check(const std::string& address) const;

  JobFolder folder_;
};

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_STORE_STORED_BUNDLE_H_
