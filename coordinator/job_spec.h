// Turns what a user wrote into a spec with every default filled in, or says which field is wrong and how to fix it.
// Pure: no files are looked at (job_files.h does).
#ifndef REKINDLE_COORDINATOR_JOB_SPEC_H_
#define REKINDLE_COORDINATOR_JOB_SPEC_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
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

// INVALID_ARGUMENT: "spec.training.global_batch: 10 is not divisible by micro_batch 4: use 8 or 12". The first wrong
// field in the order of the proto. A resolved spec resolves to itself.
absl::StatusOr<v1::JobSpec> ResolveSpec(const v1::JobSpec& spec, const Defaults& defaults);

// Of a resolved spec; 0: its micro_batch is still to be found.
int MicroBatches(const v1::JobSpec& spec);

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_JOB_SPEC_H_
