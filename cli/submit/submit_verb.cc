#include <iostream>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/job_file/bundle_folder.h"
#include "cli/job_file/problems.h"
#include "cli/job_file/validate.h"
#include "cli/simulation/submit_estimate.h"
#include "cli/submit/job_file_verbs.h"
#include "cli/submit/script.h"
#include "cli/submit/send_bundle.h"
#include "cli/submit/submit.h"
#include "cli/text/json_list.h"

namespace rekindle::cli {
namespace {

struct Flags {
  std::string file;
  std::vector<std::string> sets;
  bool wait = false;
  bool dry_run = false;
  // `python` runs a script, so that it describes its job.
  std::string python = "python3";
  EstimateFlags estimate;
};

std::vector<std::string> Names(const JobDocuments& file, size_t from, size_t to) {
  std::vector<std::string> names;
  for (size_t i = from; i < to; ++i) names.push_back(file.documents[i].job.name());
  return names;
}

// Describes which jobs of a file were submitted when a call failed in the middle of the file.
absl::Status SubmittedInPart(const JobDocuments& file, size_t failed, const absl::Status& why) {
  const std::string& name = file.documents[failed].job.name();
  std::string text = absl::StrCat("submitted: ", failed == 0 ? "none" : absl::StrJoin(Names(file, 0, failed), ", "));
  const size_t rest = IsRefusal(why) ? failed : failed + 1;
  if (rest > failed) absl::StrAppend(&text, "; not known: ", name, ", see `rekindle get ", name, "`");
  if (rest < file.documents.size()) {
    absl::StrAppend(&text, "; not submitted: ", absl::StrJoin(Names(file, rest, file.documents.size()), ", "));
  }
  return absl::Status(why.code(), absl::StrCat(text, "\n", why.message()));
}

absl::Status WithLines(const JobDocuments& file, const JobDocument& document, const absl::Status& status) {
  if (!IsRefusal(status)) return status;
  Problems problems(file.source);
  problems.AddRefusal(document, status);
  return problems.ToStatus();
}

// Sends the folder of code of a job, if it has one, and submits the job.
absl::StatusOr<v1::Job> SendAll(Context& context, const JobDocument& document) {
  if (document.bundle != nullptr) {
    if (absl::Status sent = SendBundle(context, *document.bundle); !sent.ok()) return sent;
  }
  return SendJob(context, document.job);
}

// Shows what would be sent, and asks no coordinator.
absl::Status DryRun(const Context& context, const Flags& flags) {
  if (IsScript(flags.file)) {
    const absl::StatusOr<common::PackedFolder> packed = common::PackFolder(FolderOfScript(flags.file));
    if (packed.ok()) PrintBundle(context, *packed);
    return packed.status();
  }
  absl::StatusOr<JobDocuments> file = ReadJobDocuments(flags.file);
  if (!file.ok()) return file.status();
  int folders = 0;
  for (JobDocument& document : file->documents) {
    if (absl::Status packed = PrepareBundle(&document); !packed.ok()) return packed;
    if (document.bundle == nullptr) continue;
    ++folders;
    PrintBundle(context, *document.bundle);
  }
  if (folders == 0 && !context.json()) std::cout << "no folder would be sent: no job has one as spec.model.bundle\n";
  return absl::OkStatus();
}

// Submits all jobs of the file. The caller has validated all of them before. With JSON the output is one document.
absl::Status SubmitAll(Context& context, const JobDocuments& file) {
  JsonList list(std::cout, "jobs");
  for (size_t i = 0; i < file.documents.size(); ++i) {
    const JobDocument& document = file.documents[i];
    const absl::StatusOr<v1::Job> job = SendAll(context, document);
    if (!job.ok()) return SubmittedInPart(file, i, WithLines(file, document, job.status()));
    context.json() ? list.Add(ToJson(*job, false)) : PrintJob(context, *job);
  }
  if (context.json()) list.Finish();
  return absl::OkStatus();
}

absl::Status SubmitOne(Context& context, const JobDocuments& file, const Flags& flags) {
  const JobDocument& document = file.documents.front();
  if (flags.estimate.wanted) {
    const auto go_on = EstimateAndAsk(context, document.job, file.source, flags.estimate);
    if (!go_on.ok() || !*go_on) return go_on.status();
  }
  const absl::StatusOr<v1::Job> job = SendAll(context, document);
  if (!job.ok()) return WithLines(file, document, job.status());
  return FollowJob(context, *job, flags.wait);
}

absl::Status Submit(Context& context, const Flags& flags) {
  if (flags.dry_run) return DryRun(context, flags);
  std::vector<Override> overrides;
  for (const std::string& argument : flags.sets) overrides.push_back(ParseOverride(argument));
  absl::StatusOr<JobDocuments> file = IsScript(flags.file) ? DescribeScript(flags.file, flags.python, overrides)
                                                           : ReadJobDocuments(flags.file, overrides);
  if (!file.ok()) return file.status();
  const size_t jobs = file->documents.size();
  const std::string has = absl::StrCat("is for one job, and ", file->source, " has ", jobs);
  if (jobs > 1 && flags.wait) {
    throw CLI::ValidationError("--wait", has + ": leave it out, and see each with `rekindle watch JOB`");
  }
  if (jobs > 1 && flags.estimate.wanted) {
    throw CLI::ValidationError("--estimate", has + ": give each a file of its own");
  }
  // A single job need not be validated before it is submitted, because its submission returns the same errors.
  const JobDocument& first = file->documents.front();
  const v1::JobSpec::Model& model = first.job.spec().model();
  const bool is_asked = jobs > 1 || !first.unread.empty() || !model.weights().empty() || !model.bundle().empty();
  if (is_asked || flags.estimate.wanted) {
    if (const auto valid = Validate(context, &*file); !valid.ok()) return valid.status();
  }
  return jobs > 1 ? SubmitAll(context, *file) : SubmitOne(context, *file, flags);
}

}  // namespace

void AddSubmitVerb(CLI::App& app, Context& context) {
  auto flags = std::make_shared<Flags>();
  CLI::App* verb = app.add_subcommand("submit", "Submit a job file or a script; prints the job with its resolved spec");
  verb->add_option("JOB.yaml", flags->file,
                   "YAML or JSON (docs/jobs.md), where each document is a job, - for standard input, or a script .py "
                   "that calls rekindle.run, whose folder is sent along (docs/own-models.md)")
      ->required();
  AddSetFlag(verb, &flags->sets);
  verb->add_flag(
      "--wait", flags->wait,
      "Show progress until the job has ended; exit 0 only if it succeeded, 130 on Ctrl-C, which leaves it running");
  verb->add_flag("--dry-run", flags->dry_run, "List the files of the folder that would be sent, and send nothing");
  verb->add_option("--python", flags->python, "The Python that runs a script .py; default: python3 in the PATH")
      ->type_name("PATH");
  AddEstimateFlags(verb, &flags->estimate);
  context.OnRun(verb, [flags, &context] { return Submit(context, *flags); });
}

}  // namespace rekindle::cli
