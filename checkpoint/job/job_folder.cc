#include "checkpoint/job/job_folder.h"

#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "checkpoint/format/manifest.h"

namespace rekindle::checkpoint {

absl::Status JobFolder::Check() const {
  if (IsSafeName(uid_)) return absl::OkStatus();
  return absl::InvalidArgumentError("the job uid is no safe name");
}

absl::Status JobFolder::CheckUid() const {
  if (IsSafeName(uid_)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "the job uid is not 1 to 128 of A-Z a-z 0-9 . _ - that begin with a letter or digit");
}

std::string JobFolder::CheckpointOf(const std::string& manifest_file) {
  absl::string_view name = manifest_file;
  return absl::ConsumeSuffix(&name, kManifestSuffix) ? std::string(name) : "";
}

}  // namespace rekindle::checkpoint
