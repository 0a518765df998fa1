#include "cli/submit.h"

#include <filesystem>
#include <iostream>

#include "checkpoint/weight_set.h"
#include "cli/checkpoint_place.h"
#include "cli/finishing.h"
#include "cli/money.h"
#include "cli/text.h"
#include "cli/watch.h"
#include "common/file.h"
#include "common/spec/yaml.h"
#include "worker/models/layout.h"
#include "worker/models/model_spec_proto.h"

namespace rekindle::cli {
namespace {

// Relative paths in a job file are relative to the file.
void ResolvePaths(const std::filesystem::path& folder, v1::JobSpec* spec) {
  const auto resolve = [&](std::string& path) {
    if (!path.empty() && std::filesystem::path(path).is_relative()) path = (folder / path).lexically_normal();
  };
  v1::JobSpec::Data& data = *spec->mutable_data();
  for (std::string& path : *data.mutable_text()) resolve(path);
  for (std::string& path : *data.mutable_tokens()) resolve(path);
  if (data.has_table())
    for (std::string& path : *data.mutable_table()->mutable_files()) resolve(path);
  if (data.has_images())
    for (std::string& path : *data.mutable_images()->mutable_files()) resolve(path);
  if (!spec->model().weights().empty()) resolve(*spec->mutable_model()->mutable_weights());
}

// ", saved 120 steps, 31.5 s, 2.0M bytes"; empty when it saved nothing.
std::string Saved(const v1::LeverStatus& lever) {
  std::string saved;
  if (lever.steps_saved() > 0) saved += ", " + Fixed(lever.steps_saved(), 0) + " steps";
  if (lever.seconds_saved() > 0) saved += ", " + Fixed(lever.seconds_saved(), 1) + " s";
  if (lever.bytes_saved() > 0) saved += ", " + Short(lever.bytes_saved()) + " bytes";
  return saved.empty() ? "" : ", saved " + saved.substr(2);
}

}  // namespace

absl::StatusOr<v1::Job> ReadJobFile(const std::string& path) {
  auto text = common::ReadFile(*common::PosixFileSystem(), path, common::kMaxYamlBytes);
  if (!text.ok()) return text.status();
  v1::Job job;
  if (absl::Status status = common::ParseYaml(*text, path, &job); !status.ok()) return status;
  ResolvePaths(std::filesystem::absolute(path).parent_path(), job.mutable_spec());
  return job;
}

void PrintJob(const Context& context, const v1::Job& job) {
  if (context.json()) {
    std::cout << ToJson(job) << "\n";
    return;
  }
  const v1::JobStatus& s = job.status();
  std::cout << job.name() << "  " << StateName(s.state()) << "  (uid " << job.uid() << ")\n";
  if (!s.reason().empty()) std::cout << "  reason       " << Printable(s.reason()) << "\n";
  std::cout << "  step         " << s.step() << " of " << s.resolved_spec().training().steps() << ", generation "
            << s.generation() << "\n";
  if (s.step() > 0) {
    const v1::JobSpec::Data& data = s.resolved_spec().data();
    const std::string unit = data.has_table() || data.has_images() ? "sample" : "token";
    std::cout << "  loss         " << Fixed(s.loss(), 4) << " a " << unit << ", " << Short(s.tokens_per_second()) << " "
              << unit << "s/s, learning rate " << s.learning_rate() << "\n";
  }
  if (s.validation_bits_per_byte() > 0) {
    std::cout << "  validation   " << Fixed(s.validation_bits_per_byte(), 4) << " bits a byte (unigram baseline "
              << Fixed(s.unigram_bits_per_byte(), 4) << ")\n";
  } else if (s.validation_loss() > 0) {
    std::cout << "  validation   " << Fixed(s.validation_loss(), 4) << " is the loss there\n";
  }
  if (s.cost().until() > 0) {
    std::cout << "  spent        " << Money(s.cost().spent(), s.cost()) << ", " << Money(s.cost().rate(), s.cost())
              << " an hour now" << (s.cost().budget() > 0 ? "; budget " + DescribeBudget(s.cost()) : "")
              << (s.cost().unpriced_node_hours() > 0 ? " (some nodes are unpriced)" : "") << "\n";
  }
  if (s.has_finishing()) std::cout << DescribeFinishing(s);
  for (const v1::MemberStatus& m : s.members()) {
    std::cout << "  rank " << m.rank() << "       " << m.trainer() << ", "
              << m.micro_batch_end() - m.micro_batch_begin() << " micro-batches from " << m.micro_batch_begin();
    if (m.micro_batch_seconds() > 0) std::cout << ", " << Fixed(1e3 * m.micro_batch_seconds(), 1) << " ms each";
    if (!m.straggler().empty()) std::cout << ", straggler (" << Printable(m.straggler()) << ")";
    std::cout << "\n";
  }
  for (const v1::LeverStatus& lever : s.levers()) {
    std::cout << "  lever        " << lever.lever() << " at step " << lever.step() << Saved(lever) << ": "
              << Printable(lever.text()) << "\n";
  }
  if (s.checkpoint_step() >= 0) std::cout << "  checkpoint   step " << s.checkpoint_step() << "\n";
  if (!s.final_store().empty()) std::cout << "  final store  " << Printable(s.final_store()) << "\n";
  if (!s.last_event().empty()) std::cout << "  last event   " << Printable(s.last_event()) << "\n";
  if (!s.state_digest().empty()) std::cout << "  digest       " << s.state_digest() << "\n";
}

absl::Status PrepareWeights(Context& context, v1::Job* job) {
  v1::JobSpec::Model& model = *job->mutable_spec()->mutable_model();
  if (model.weights().empty()) return absl::OkStatus();
  v1::ValidateJobRequest request;  // For the model with its defaults.
  *request.mutable_job() = *job;
  request.mutable_job()->mutable_spec()->mutable_model()->clear_weights();
  request.mutable_job()->mutable_spec()->mutable_model()->clear_weights_digest();
  v1::Job resolved;
  absl::Status status = context.Call(&v1::Coordinator::StubInterface::ValidateJob, request, &resolved);
  if (!status.ok()) return status;
  const auto layout = models::LayoutOf(models::ModelSpecOf(resolved.spec()));
  if (!layout.ok()) return layout.status();
  const std::string kind = resolved.spec().model().kind();
  const auto set =
      checkpoint::WeightSet::Open(*common::PosixFileSystem(), model.weights(),
                                  [&](const std::string& name) { return models::WeightNameOf(kind, name); });
  if (!set.ok()) return set.status();
  const auto differences = set->Compare(models::TensorsOf(*layout));
  if (!differences.empty()) {
    return absl::InvalidArgumentError("spec.model.weights: " + model.weights() +
                                      " does not fit spec.model; nothing was submitted\n" + differences.ToString());
  }
  ProgressBar bar(context, "reading " + model.weights());
  const auto digest = set->Digest([&](int64_t done, int64_t total) { bar.Show(done, total); });
  if (!digest.ok()) return digest.status();
  if (!model.weights_digest().empty() && model.weights_digest() != *digest) {
    return absl::InvalidArgumentError("spec.model.weights_digest: " + model.weights() + " has the digest " + *digest +
                                      ": it is not the set that was meant; leave the field out to use it");
  }
  model.set_weights_digest(*digest);
  return absl::OkStatus();
}

absl::Status SubmitJob(Context& context, const v1::Job& job, bool wait) {
  v1::SubmitJobRequest request;
  *request.mutable_job() = job;
  request.set_request_id(NewRequestId());
  v1::Job submitted;
  absl::Status status = context.Call(&v1::Coordinator::StubInterface::SubmitJob, request, &submitted);
  if (!status.ok()) return status;
  WarnIfNothingIsKept(submitted);
  if (!wait) {
    PrintJob(context, submitted);
    return absl::OkStatus();
  }
  v1::Job last;
  status = WatchJob(context, submitted.uid(), &last);
  if (!status.ok()) return status;
  if (!context.json()) PrintJob(context, last);  // As JSON it was the last line already.
  if (last.status().state() == v1::SUCCEEDED) return absl::OkStatus();
  return absl::AbortedError("job " + last.name() + " ended as " + StateName(last.status().state()) + ": " +
                            Printable(last.status().reason()));
}

}  // namespace rekindle::cli
