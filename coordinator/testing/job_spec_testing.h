// Contains what the tests of job specs share. Only tests include this file.
#ifndef REKINDLE_COORDINATOR_TESTING_JOB_SPEC_TESTING_H_
#define REKINDLE_COORDINATOR_TESTING_JOB_SPEC_TESTING_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

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

// Returns the resolved form of `spec`, or the error with which a coordinator with the settings `defaults` refuses it.
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

// A WrongSpec changes a good spec so that it is refused with `message`.
struct WrongSpec {
  std::function<void(v1::JobSpec&)> change;
  const char* message;
};

// Expects that each change of a good spec is refused with the message of the case, which names the field and the fix.
inline void ExpectRefused(const std::vector<WrongSpec>& cases) {
  for (const WrongSpec& c : cases) {
    v1::JobSpec spec = Small();
    c.change(spec);
    EXPECT_THAT(Message(spec), testing::HasSubstr(c.message));
  }
}

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_TESTING_JOB_SPEC_TESTING_H_
