// What the tests of job specs share. Only tests include this.
#ifndef REKINDLE_COORDINATOR_JOB_SPEC_TESTING_H_
#define REKINDLE_COORDINATOR_JOB_SPEC_TESTING_H_

#include <gtest/gtest.h>

#include <string>

#include "coordinator/job_spec.h"

namespace rekindle::coordinator {

inline const Defaults kDefaults{.store = "file:///data/checkpoints"};

inline v1::JobSpec Small() {
  v1::JobSpec spec;
  spec.mutable_data()->add_text("/text/*.txt");
  spec.mutable_training()->set_steps(100);
  return spec;
}

inline std::string Message(const v1::JobSpec& spec) {
  const auto resolved = ResolveSpec(spec, kDefaults);
  EXPECT_TRUE(resolved.ok() || resolved.status().code() == absl::StatusCode::kInvalidArgument);
  return resolved.ok() ? "OK" : std::string(resolved.status().message());
}

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_JOB_SPEC_TESTING_H_
