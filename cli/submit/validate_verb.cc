#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/job_file/validate.h"
#include "cli/submit/job_file_verbs.h"
#include "cli/submit/own_task_check.h"
#include "cli/submit/script.h"
#include "cli/text/json_list.h"
#include "cli/text/safe_text.h"

namespace rekindle::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kDefaultPython[] = "python3";

struct Flags {
  std::vector<std::string> files;
  std::vector<std::string> sets;
  bool offline = false;
  // With `twice`, the tasks of users' own models are checked too, by the interpreter `python`.
  bool twice = false;
  std::string python;
};

void PrintOfflineJson(const std::vector<JobDocuments>& files) {
  Json out = {{"jobs", Json::array()}, {"checked", Json::array()}, {"not_checked", Json::array()}};
  for (const JobDocuments& file : files) {
    for (const JobDocument& document : file.documents) {
      out["jobs"].push_back({{"file", file.source}, {"line", document.line}, {"name", document.job.name()}});
    }
  }
  for (const coordinator::JobCheck& check : coordinator::JobChecks()) {
    if (IsRunOffline(check)) {
      out["checked"].push_back(check.name);
    } else {
      out["not_checked"].push_back({{"check", check.name}, {"needs", coordinator::Describe(check.needs)}});
    }
  }
  std::cout << out.dump(1) << "\n";
}

void PrintOffline(const std::vector<JobDocuments>& files) {
  for (const JobDocuments& file : files) {
    for (const JobDocument& document : file.documents) {
      std::cout << Printable(file.source) << ":" << document.line << ": job " << document.job.name()
                << ": nothing wrong that can be told without a coordinator\n";
    }
  }
  std::vector<std::string> unchecked;
  for (const coordinator::JobCheck& check : coordinator::JobChecks()) {
    if (IsRunOffline(check)) continue;
    unchecked.push_back(absl::StrCat(check.name, " (", coordinator::Describe(check.needs), ")"));
  }
  std::cout << "not checked without a coordinator: " << absl::StrJoin(unchecked, ", ") << "\n";
}

// Checks one job file. If a coordinator was asked, the file's jobs with every default are added to `checked`.
absl::Status ValidateFile(Context& context, bool offline, JobDocuments* file, std::vector<v1::Job>* checked) {
  if (offline) return ValidateOffline(*file);
  absl::StatusOr<std::vector<v1::Job>> jobs = Validate(context, file);
  if (!jobs.ok()) return jobs.status();
  checked->insert(checked->end(), jobs->begin(), jobs->end());
  return absl::OkStatus();
}

// Prints the validated jobs. With -o json several jobs are one JSON document, so that a program can parse the output.
void PrintChecked(bool json, const std::vector<v1::Job>& jobs) {
  if (!json || jobs.size() == 1) {
    for (const v1::Job& job : jobs) std::cout << ToJson(job) << "\n";
    return;
  }
  JsonList list(std::cout, "jobs");
  for (const v1::Job& job : jobs) list.Add(ToJson(job, false));
  list.Finish();
}

// Checks the tasks of all files, which are job files and scripts that describe a job. The jobs are validated before,
// without a coordinator.
absl::Status RunTwice(Context& context, const Flags& flags) {
  std::vector<Override> overrides;
  for (const std::string& argument : flags.sets) overrides.push_back(ParseOverride(argument));
  std::vector<OwnTask> tasks;
  for (const std::string& path : flags.files) {
    const absl::StatusOr<JobDocuments> file =
        IsScript(path) ? DescribeScript(path, flags.python.empty() ? kDefaultPython : flags.python, overrides)
                       : ReadJobDocuments(path, overrides);
    if (!file.ok()) return file.status();
    if (absl::Status wrong = ValidateOffline(*file); !wrong.ok()) return wrong;
    const absl::StatusOr<std::vector<OwnTask>> found = TasksOf(*file);
    if (!found.ok()) return found.status();
    if (found->empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, " has no model of its own (spec.model.python), and --twice is for such a model alone"));
    }
    tasks.insert(tasks.end(), found->begin(), found->end());
  }
  if (context.json() && tasks.size() > 1) {
    return absl::InvalidArgumentError("--twice with -o json is for one task: give each a command of its own");
  }
  for (OwnTask& task : tasks) {
    if (!flags.python.empty()) task.interpreter = flags.python;
    if (absl::Status status = RunCheck(task, context.json()); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Run(Context& context, const Flags& flags) {
  if (flags.twice) return RunTwice(context, flags);
  std::vector<Override> overrides;
  for (const std::string& argument : flags.sets) overrides.push_back(ParseOverride(argument));
  std::vector<JobDocuments> files;
  std::vector<absl::Status> wrong;
  std::vector<v1::Job> checked;
  for (const std::string& path : flags.files) {
    absl::StatusOr<JobDocuments> file = ReadJobDocuments(path, overrides);
    absl::Status status = file.ok() ? ValidateFile(context, flags.offline, &*file, &checked) : file.status();
    // If the coordinator cannot be asked about one file, the other files would fail in the same way.
    if (absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status)) return status;
    if (!status.ok()) wrong.push_back(std::move(status));
    if (file.ok()) files.push_back(*std::move(file));
  }
  if (wrong.empty() && !flags.offline) PrintChecked(context.json(), checked);
  if (wrong.size() == 1) return wrong.front();
  if (!wrong.empty()) {
    return absl::InvalidArgumentError(absl::StrJoin(
        wrong, "\n", [](std::string* out, const absl::Status& status) { absl::StrAppend(out, status.message()); }));
  }
  if (flags.offline) context.json() ? PrintOfflineJson(files) : PrintOffline(files);
  return absl::OkStatus();
}

}  // namespace

void AddValidateVerb(CLI::App& app, Context& context) {
  auto flags = std::make_shared<Flags>();
  CLI::App* verb = app.add_subcommand("validate", "Check job files as submit does, and print them with every default");
  verb->footer(
      "Refuses what submit would refuse, in the same words, and changes nothing. With --offline no coordinator is "
      "asked: what needs its settings, files, nodes, prices or jobs is listed as not checked. --twice asks no "
      "coordinator either, and runs the code of the model here.");
  verb->add_option("JOB.yaml", flags->files, "Job files; - is standard input; each YAML document is a job")->required();
  verb->add_flag("--offline", flags->offline, "Make the checks that need no coordinator: fit for a pre-commit hook");
  CLI::Option* twice = verb->add_flag(
      "--twice", flags->twice,
      "Also compute micro-batches of a model of your own several times, and show what differs; takes scripts .py too");
  verb->add_option("--python", flags->python, "The interpreter for --twice (that of the job, or python3)")
      ->needs(twice)
      ->check(CLI::ExistingFile);
  AddSetFlag(verb, &flags->sets);
  context.OnRun(verb, [flags, &context] { return Run(context, *flags); });
}

}  // namespace rekindle::cli
