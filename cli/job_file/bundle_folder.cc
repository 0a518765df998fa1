#include "cli/job_file/bundle_folder.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace rekindle::cli {

std::string BundleFolderOf(const v1::Job& job) {
  const std::string& bundle = job.spec().model().bundle();
  return common::IsBundleAddress(bundle) ? "" : bundle;
}

absl::Status PrepareBundle(JobDocument* document) {
  const std::string folder = BundleFolderOf(document->job);
  if (folder.empty()) return absl::OkStatus();
  absl::StatusOr<common::PackedFolder> packed = common::PackFolder(folder);
  if (!packed.ok()) return absl::InvalidArgumentError(absl::StrCat("spec.model.bundle: ", packed.status().message()));
  document->job.mutable_spec()->mutable_model()->set_bundle(packed->bundle.summary.address);
  document->bundle = std::make_shared<const common::PackedFolder>(*std::move(packed));
  return absl::OkStatus();
}

}  // namespace rekindle::cli
