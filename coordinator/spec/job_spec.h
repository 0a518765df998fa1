// Fills in the defaults of the job spec that a user wrote. job_checks.h says what is wrong in a spec.
#ifndef REKINDLE_COORDINATOR_SPEC_JOB_SPEC_H_
#define REKINDLE_COORDINATOR_SPEC_JOB_SPEC_H_

#include <string>

#include "absl/status/status.h"
#include "coordinator/spec/defaults.h"
#include "rekindle/v1/job.pb.h"

namespace rekindle::coordinator {

// Returns whether a resolved spec asks for checkpoints at all.
bool TakesCheckpoints(const v1::JobSpec::Checkpoint& checkpoint);

// Returns INVALID_ARGUMENT when one of the cluster's defaults is not a valid value. The message names the variable that
// sets it.
absl::Status CheckDefaults(const Defaults& defaults);

// Checks that the name of a job has 1 to 63 of a-z, 0-9 and '-', and begins and ends with a letter or digit. A name in
// the form of a uid is refused.
absl::Status CheckJobName(const std::string& name);

// Returns the resolved spec, in which every default is filled in that follows from the rest. FillSpec accepts any spec,
// however wrong. A resolved spec resolves to itself.
v1::JobSpec FillSpec(const v1::JobSpec& spec, const Defaults& defaults);

// Returns the number of micro-batches per step. 0 means that the job's first worker has yet to find the `micro_batch`.
// REQUIRES: the spec is resolved.
int MicroBatches(const v1::JobSpec& spec);

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SPEC_JOB_SPEC_H_
