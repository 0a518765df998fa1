// Checks users' own models: the program `python -m rekindle.check` shows whether the result of a task depends on
// weights and samples alone.
#ifndef REKINDLE_CLI_SUBMIT_OWN_TASK_CHECK_H_
#define REKINDLE_CLI_SUBMIT_OWN_TASK_CHECK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/job_file/job_documents.h"

namespace rekindle::cli {

// Names a task, and how the job that it is of computes with it.
struct OwnTask {
  // `source` is the file that was given, for errors.
  std::string source;
  // `interpreter` is empty if neither the job nor the user has named one.
  std::string interpreter;
  std::string folder;
  // `task` is "module:function".
  std::string task;
  int micro_batch = 4;
  int64_t seed = 1;
  std::string precision = "fp32";
  bool exact = true;
};

// Returns the tasks of those jobs in the file that have a model of their own, in a folder of this machine. FillSpec
// fills in what the jobs leave out. INVALID_ARGUMENT says that a job has its code in a bundle that was sent already.
absl::StatusOr<std::vector<OwnTask>> TasksOf(const JobDocuments& file);

// Returns the arguments of the check, after the path of the interpreter.
std::vector<std::string> CheckArguments(const OwnTask& task, bool json);

// Runs the check, which takes as long as some starts of the task, and prints its report. With `json` the report is one
// JSON document. Returns FAILED_PRECONDITION if something differs, INVALID_ARGUMENT if the task is refused or there is
// no interpreter, and INTERNAL if the check itself failed.
absl::Status RunCheck(const OwnTask& task, bool json);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_SUBMIT_OWN_TASK_CHECK_H_
