#include "cli/job_file/validate.h"

#include <algorithm>

#include "cli/job_file/bundle_folder.h"
#include "cli/job_file/problems.h"
#include "cli/job_file/weights.h"

namespace rekindle::cli {
namespace {

using coordinator::Facts;

Facts OfflineFacts() { return {.own_files = CheckWeights}; }

// Returns the job with kDigestToCome as the digest of its weights if it has weights without a digest, and with a
// stand-in for the address of a bundle that is not packed.
v1::Job WithDigest(const v1::Job& written) {
  v1::Job job = written;
  if (!BundleFolderOf(job).empty()) job.mutable_spec()->mutable_model()->set_bundle(kAddressToCome);
  const v1::JobSpec::Model& model = written.spec().model();
  if (model.weights().empty() || !model.weights_digest().empty()) return job;
  job.mutable_spec()->mutable_model()->set_weights_digest(kDigestToCome);
  return job;
}

coordinator::Checker CheckAlone(const v1::Job& written, const Facts& facts) {
  const v1::Job job = WithDigest(written);
  const v1::JobSpec resolved = coordinator::FillSpec(job.spec(), coordinator::UnknownSettings());
  coordinator::Checker check;
  CheckJob({job, resolved}, facts, &check);
  return check;
}

// Adds the values that are wrong whatever the other fields of the job contain. The job could not be read in full, so
// checks that need several fields would report wrong problems.
void AddWrongValues(const JobDocument& document, Problems* problems) {
  for (const coordinator::Problem& problem : CheckAlone(document.job, {}).Problems()) {
    const bool is_given = document.lines.contains(problem.field) || document.flags.contains(problem.field);
    const bool is_unread = std::any_of(document.unread.begin(), document.unread.end(),
                                       [&](const auto& unread) { return unread.field == problem.field; });
    if (problem.reads.empty() && is_given && !is_unread) problems->Add(document, problem.text);
  }
}

}  // namespace

absl::StatusOr<std::vector<v1::Job>> Validate(Context& context, JobDocuments* file) {
  Problems problems(file->source);
  problems.AddNamesGivenTwice(*file);
  std::vector<v1::Job> jobs;
  for (JobDocument& document : file->documents) {
    if (!document.unread.empty()) {
      problems.AddUnread(document);
      AddWrongValues(document, &problems);
      continue;
    }
    v1::ValidateJobRequest request;
    if (absl::Status packed = PrepareBundle(&document); !packed.ok()) {
      problems.Add(document, std::string(packed.message()));
      document.job.mutable_spec()->mutable_model()->set_bundle(kAddressToCome);
    }
    if (absl::Status weights = PrepareWeights(context, &document.job); weights.ok()) {
      *request.mutable_job() = document.job;
    } else {
      problems.Add(document, std::string(weights.message()));
      // The coordinator reports what is wrong in the job's other fields. Since the weights of the job are wrong, the
      // job gets a stand-in for their digest.
      *request.mutable_job() = WithDigest(document.job);
    }
    const absl::Status status =
        context.Call(&v1::Coordinator::StubInterface::ValidateJob, request, &jobs.emplace_back());
    if (IsRefusal(status)) {
      problems.AddRefusal(document, status);
    } else if (!status.ok()) {
      if (problems.empty()) return status;
      // If the coordinator could not be asked, the problems that were found without it are reported all the same.
      break;
    }
  }
  if (!problems.empty()) return problems.ToStatus();
  return jobs;
}

absl::Status ValidateOffline(const JobDocuments& file) {
  Problems problems(file.source);
  problems.AddNamesGivenTwice(file);
  for (const JobDocument& document : file.documents) {
    if (!document.unread.empty()) {
      problems.AddUnread(document);
      AddWrongValues(document, &problems);
      continue;
    }
    JobDocument packed = document;
    if (absl::Status status = PrepareBundle(&packed); !status.ok())
      problems.Add(document, std::string(status.message()));
    for (const coordinator::Problem& problem : CheckAlone(packed.job, OfflineFacts()).Problems()) {
      problems.Add(document, problem.text);
    }
  }
  return problems.empty() ? absl::OkStatus() : problems.ToStatus();
}

bool IsRunOffline(const coordinator::JobCheck& check) { return coordinator::IsRun(check, OfflineFacts()); }

}  // namespace rekindle::cli
