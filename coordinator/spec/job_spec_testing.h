// What the tests of job specs share. Only tests include this.
#ifndef REKINDLE_COORDINATOR_SPEC_JOB_SPEC_TESTING_H_
#define REKINDLE_COORDINATOR_SPEC_JOB_SPEC_TESTING_H_

#include <gtest/gtest.h>

#include <string>

#include "absl/status/statusor.h"
#include "coordinator/spec/job_checks.h"
#include "coordinator/spec/job_spec.h"
#include "coordinator/spec/spec_checker.h"

namespace rekindle::coordinator {

inline const Defaults kDefaults{.store = "file:///data/checkpoints"};

inline v1::JobSpec Small() {
  v1::JobSpec spec;
  spec.mutable_data()->add_text("/text/*.txt");
  spec.mutable_training()->set_steps(100);
  return spec;
}

// The resolved spec, or what is wrong in it for a coordinator of these settings.
inline absl::StatusOr<v1::JobSpec> ResolveSpec(const v1::JobSpec& spec, const Defaults& defaults) {
  v1::Job job;
  job.set_name("job");
  *job.mutable_spec() = spec;
  v1::JobSpec resolved = FillSpec(spec, defaults);
  Checker check;
  CheckJob({job, resolved}, {.settings = &defaults}, &check);
  if (!check.status().ok()) return check.status();
  return resolved;
}

inline std::string Message(const v1::JobSpec& spec) {
  const auto resolved = ResolveSpec(spec, kDefaults);
  EXPECT_TRUE(resolved.ok() || resolved.status().code() == absl::StatusCode::kInvalidArgument);
  return resolved.ok() ? "OK" : std::string(resolved.status().message());
}

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SPEC_JOB_SPEC_TESTING_H_
