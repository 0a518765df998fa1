// --set FIELD=VALUE: fields of a job that the command line gives instead of the file.
#ifndef REKINDLE_CLI_JOB_FILE_OVERRIDES_H_
#define REKINDLE_CLI_JOB_FILE_OVERRIDES_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "rekindle/v1/job.pb.h"

namespace rekindle::cli {

struct Override {
  std::string field;  // Its whole path, as "spec.training.steps".
  std::string value;  // A YAML scalar.
  std::string flag;   // What the user wrote, for errors.
};

// Adds --set, which may be repeated, to a verb. What has no '=' is wrong use.
void AddSetFlag(CLI::App* verb, std::vector<std::string>* arguments);

// "training.steps=5" and "spec.training.steps=5" are the same: what is no field of a job is taken for one of its spec.
// REQUIRES: it has a '='.
Override ParseOverride(const std::string& argument);

// INVALID_ARGUMENT is a sentence with the field's name, and changes nothing.
absl::Status Apply(const Override& override, v1::Job* job);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_JOB_FILE_OVERRIDES_H_
