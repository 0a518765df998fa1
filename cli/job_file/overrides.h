// Handles --set FIELD=VALUE: fields of a job that the command line gives instead of the file.
#ifndef REKINDLE_CLI_JOB_FILE_OVERRIDES_H_
#define REKINDLE_CLI_JOB_FILE_OVERRIDES_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "rekindle/v1/job.pb.h"

namespace rekindle::cli {

struct Override {
  // `field` is the whole path of the field, for example "spec.training.steps".
  std::string field;
  // `value` is the field's value, a YAML scalar.
  std::string value;
  // `flag` is what the user wrote on the command line, for errors.
  std::string flag;
};

// Adds the flag --set to a verb. It may be repeated. An argument without '=' is wrong use.
void AddSetFlag(CLI::App* verb, std::vector<std::string>* arguments);

// Parses an argument of --set. "training.steps=5" and "spec.training.steps=5" are the same, because a name that is no
// field of a job is taken for a field of its spec. REQUIRES: the argument has a '='.
Override ParseOverride(const std::string& argument);

// Applies an override to the job. If the result is INVALID_ARGUMENT, its message is a sentence that names the field,
// and the job is unchanged.
absl::Status Apply(const Override& override, v1::Job* job);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_JOB_FILE_OVERRIDES_H_
