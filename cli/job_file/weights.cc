#include "cli/job_file/weights.h"

#include "absl/strings/str_cat.h"
#include "cli/store/checkpoint_place.h"
#include "common/files/file.h"
#include "coordinator/spec/job_checks.h"
#include "worker/models/declared/model_kind.h"
#include "worker/models/declared/model_spec_proto.h"
#include "worker/models/declared/tensors.h"

namespace rekindle::cli {
namespace {

using Progress = checkpoint::WeightSet::Progress;

constexpr char kField[] = "spec.model.weights: ";

absl::StatusOr<checkpoint::WeightSet> OpenFitting(const v1::JobSpec& resolved) {
  const std::string& path = resolved.model().weights();
  const auto layout = models::LayoutOf(models::ModelSpecOf(resolved));
  if (!layout.ok()) return layout.status();
  auto set = checkpoint::WeightSet::Open(*common::PosixFileSystem(), path, [&](const std::string& name) {
    return models::WeightNameOf(resolved.model().kind(), name);
  });
  if (!set.ok()) return absl::InvalidArgumentError(absl::StrCat(kField, set.status().message()));
  const auto differences = set->Compare(models::TensorsOf(*layout));
  if (differences.empty()) return set;
  return absl::InvalidArgumentError(absl::StrCat(kField, path, " does not fit spec.model\n", differences.ToString()));
}

// Returns the digest of the set of weights. If the spec gives another digest, INVALID_ARGUMENT is returned.
absl::StatusOr<std::string> DigestOf(const v1::JobSpec& resolved, const checkpoint::WeightSet& set,
                                     const Progress& progress) {
  const auto digest = set.Digest(progress);
  if (!digest.ok()) return absl::InvalidArgumentError(absl::StrCat(kField, digest.status().message()));
  const v1::JobSpec::Model& model = resolved.model();
  if (model.weights_digest().empty() || model.weights_digest() == *digest) return digest;
  return absl::InvalidArgumentError(absl::StrCat("spec.model.weights_digest: ", model.weights(), " has the digest ",
                                                 *digest,
                                                 ": it is not the set that was meant; leave the field out to use it"));
}

}  // namespace

absl::Status CheckWeights(const v1::JobSpec& resolved) {
  if (resolved.model().weights().empty()) return absl::OkStatus();
  const auto set = OpenFitting(resolved);
  if (!set.ok() || resolved.model().weights_digest() == kDigestToCome) return set.status();
  return DigestOf(resolved, *set, nullptr).status();
}

absl::Status PrepareWeights(const Context& context, v1::Job* job) {
  v1::JobSpec::Model& model = *job->mutable_spec()->mutable_model();
  // A user's own model takes no weights, and the coordinator says so.
  if (model.weights().empty() || !model.python().empty()) return absl::OkStatus();
  const v1::JobSpec resolved = coordinator::FillSpec(job->spec(), coordinator::UnknownSettings());
  v1::JobSpec without = resolved;
  without.mutable_model()->clear_weights();
  without.mutable_model()->clear_weights_digest();
  coordinator::Checker check;
  coordinator::CheckModel(check, without);
  coordinator::CheckData(check, without);
  coordinator::Fields reads = coordinator::FieldsOfSampleSize();
  reads.push_back("spec.model");
  if (!check.Sound(reads)) return absl::OkStatus();
  const auto set = OpenFitting(resolved);
  if (!set.ok()) return set.status();
  ProgressBar bar(context, "reading " + model.weights());
  const auto digest = DigestOf(resolved, *set, [&](int64_t done, int64_t total) { bar.Show(done, total); });
  if (!digest.ok()) return digest.status();
  model.set_weights_digest(*digest);
  return absl::OkStatus();
}

}  // namespace rekindle::cli
