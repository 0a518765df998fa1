#include "cli/submit/own_task_check.h"

#include <filesystem>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "cli/submit/script.h"
#include "cli/text/safe_text.h"
#include "common/process/command.h"
#include "coordinator/spec/job_checks.h"
#include "coordinator/spec/job_spec.h"

namespace rekindle::cli {
namespace {

// These are the exit codes of python/rekindle/check.py.
enum CheckCode { kEqual = 0, kDiffers = 1, kRefused = 2 };
// A task may load for long, and is made anew for each play. The limit is for a check that hangs.
constexpr double kLimitSeconds = 4 * 3600;
constexpr size_t kMaxReportBytes = 16 << 20;
constexpr char kDefaultPython[] = "python3";

}  // namespace

absl::StatusOr<std::vector<OwnTask>> TasksOf(const JobDocuments& file) {
  std::vector<OwnTask> tasks;
  for (const JobDocument& document : file.documents) {
    if (document.job.spec().model().python().empty()) continue;
    const v1::JobSpec spec = coordinator::FillSpec(document.job.spec(), coordinator::UnknownSettings());
    const v1::JobSpec::Model& model = spec.model();
    OwnTask& task = tasks.emplace_back();
    task.source = file.source;
    task.interpreter = model.interpreter();
    task.folder = model.folder().empty() ? model.bundle() : model.folder();
    if (!std::filesystem::is_directory(task.folder)) {
      return absl::InvalidArgumentError(
          absl::StrCat(file.source, ": the code of job ", document.job.name(),
                       " is in no folder of this machine: name one as spec.model.folder or spec.model.bundle"));
    }
    task.task = model.python();
    // With "auto" the size is found in training.
    if (spec.training().micro_batch() > 0) task.micro_batch = spec.training().micro_batch();
    task.seed = spec.seed();
    if (spec.training().precision() != "auto") task.precision = spec.training().precision();
    task.exact = spec.training().reduce() == "exact";
  }
  return tasks;
}

std::vector<std::string> CheckArguments(const OwnTask& task, bool json) {
  std::vector<std::string> arguments = {
      "-m",     "rekindle.check",        "--micro-batch", absl::StrCat(task.micro_batch),
      "--seed", absl::StrCat(task.seed), "--precision",   task.precision};
  if (!task.exact) arguments.push_back("--inexact");
  if (json) arguments.push_back("--json");
  // A folder may begin with a dash.
  arguments.insert(arguments.end(), {"--", task.folder, task.task});
  return arguments;
}

absl::Status RunCheck(const OwnTask& task, bool json) {
  const absl::StatusOr<std::string> found = FindPython(task.interpreter.empty() ? kDefaultPython : task.interpreter);
  if (!found.ok()) return found.status();
  const std::string& interpreter = *found;
  common::CommandOptions options;
  options.argv = CheckArguments(task, json);
  options.argv.insert(options.argv.begin(), interpreter);
  options.environment = common::OwnEnvironment();
  options.limit_seconds = kLimitSeconds;
  options.max_bytes = kMaxReportBytes;
  options.keep_stderr = true;
  std::cerr << "checking " << Printable(task.task) << " of " << Printable(task.source) << "\n";
  const absl::StatusOr<common::CommandResult> result = common::RunToEnd(options);
  if (!result.ok()) return result.status();
  const int code = result->status.code;
  if (code != kEqual && code != kDiffers && code != kRefused) {
    return absl::InternalError(absl::StrCat(interpreter, " -m rekindle.check ended with ", result->status.ToString(),
                                            ": does it have rekindle and PyTorch?"));
  }
  // A program that could not import the package ends with 1 as well, and has written its reason to stderr.
  if (result->output.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(interpreter, " could not check ", task.task,
                                                   ": name an interpreter that has rekindle and PyTorch by --python"));
  }
  std::cout << (json ? result->output : PrintableLines(result->output));
  if (code == kRefused) {
    return absl::InvalidArgumentError(absl::StrCat(task.source, ": ", task.task, " cannot be trained"));
  }
  if (code == kDiffers) {
    return absl::FailedPreconditionError(
        absl::StrCat(task.source, ": the result of ", task.task, " depends on more than weights and samples"));
  }
  return absl::OkStatus();
}

}  // namespace rekindle::cli
