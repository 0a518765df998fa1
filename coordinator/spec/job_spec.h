// Fills in the defaults of what a user wrote. What is wrong in it is for job_checks.h to say.
#ifndef REKINDLE_COORDINATOR_SPEC_JOB_SPEC_H_
#define REKINDLE_COORDINATOR_SPEC_JOB_SPEC_H_

#include <string>

#include "absl/status/status.h"
#include "rekindle/v1/job.pb.h"

namespace rekindle::coordinator {

// What a cluster decides for jobs that do not say.
struct Defaults {
  std::string precision = "fp32";  // REKINDLE_DEFAULT_PRECISION
  std::string precision_policy =
      "warn";         // REKINDLE_PRECISION_POLICY: warn, refuse or enforce (the default on all jobs).
  std::string store;  // A folder or bucket (common/object_uri.h).
};

// Whether a resolved spec asks for checkpoints at all.
bool TakesCheckpoints(const v1::JobSpec::Checkpoint& checkpoint);

// INVALID_ARGUMENT when a default is not a valid value; names its source.
absl::Status CheckDefaults(const Defaults& defaults);

// 1 to 63 of a-z, 0-9 and '-', beginning and ending with a letter or digit; not of the form of a uid.
absl::Status CheckJobName(const std::string& name);

// The resolved spec: every default that can be told from the rest is filled in. Of any spec, however wrong. A resolved
// spec resolves to itself.
v1::JobSpec FillSpec(const v1::JobSpec& spec, const Defaults& defaults);

// Of a resolved spec; 0: its micro_batch is still to be found.
int MicroBatches(const v1::JobSpec& spec);

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SPEC_JOB_SPEC_H_
