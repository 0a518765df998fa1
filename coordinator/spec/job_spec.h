// Fills in the defaults of what a user wrote. job_checks.h says what is wrong in it.
#ifndef REKINDLE_COORDINATOR_SPEC_JOB_SPEC_H_
#define REKINDLE_COORDINATOR_SPEC_JOB_SPEC_H_

#include <string>

#include "absl/status/status.h"
#include "rekindle/v1/job.pb.h"

namespace rekindle::coordinator {

// Holds what a cluster decides for jobs that do not say it.
struct Defaults {
  // REKINDLE_DEFAULT_PRECISION sets it.
  std::string precision = "fp32";
  // REKINDLE_PRECISION_POLICY sets it to warn, refuse or enforce (the default applies to all jobs).
  std::string precision_policy = "warn";
  // `store` is a folder or bucket (common/objects/object_uri.h).
  std::string store;
};

// Returns whether a resolved spec asks for checkpoints at all.
bool TakesCheckpoints(const v1::JobSpec::Checkpoint& checkpoint);

// Returns INVALID_ARGUMENT when a default is not a valid value. The message names its source.
absl::Status CheckDefaults(const Defaults& defaults);

// Checks that the name has 1 to 63 of a-z, 0-9 and '-', and begins and ends with a letter or digit. A name in the form
// of a uid is refused.
absl::Status CheckJobName(const std::string& name);

// Returns the resolved spec, in which every default is filled in that follows from the rest. It accepts any spec,
// however wrong. A resolved spec resolves to itself.
v1::JobSpec FillSpec(const v1::JobSpec& spec, const Defaults& defaults);

// Returns the number of micro-batches per step. REQUIRES: the spec is resolved. 0 means that its `micro_batch` is still
// to be found.
int MicroBatches(const v1::JobSpec& spec);

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SPEC_JOB_SPEC_H_
