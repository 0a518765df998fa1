#include "checkpoint/job/job_manifests.h"

#include <algorithm>
#include <functional>

#include "absl/strings/str_cat.h"

namespace rekindle::checkpoint {

bool IsBroken(const absl::Status& status) {
  return absl::IsNotFound(status) || absl::IsDataLoss(status) || absl::IsInvalidArgument(status) ||
         absl::IsOutOfRange(status);
}

absl::StatusOr<std::vector<ManifestName>> JobManifests::Names(std::vector<std::string>* foreign) {
  if (absl::Status status = folder_.CheckUid(); !status.ok()) return status;
  const auto files = folder_.backend().List(folder_.Manifests());
  if (!files.ok()) return files.status();
  std::vector<ManifestName> names;
  for (const std::string& file : *files) {
    if (folder_.backend().IsUnfinished(file)) continue;
    auto name = ParseName(JobFolder::CheckpointOf(file));
    if (name.ok()) {
      names.push_back(*std::move(name));
    } else if (foreign != nullptr) {
      foreign->push_back(file);
    }
  }
  std::sort(names.begin(), names.end(), std::greater<>());
  return names;
}

absl::StatusOr<Manifest> JobManifests::Read(const std::string& name) {
  if (absl::Status status = folder_.CheckUid(); !status.ok()) return status;
  const auto parsed = ParseName(name);
  if (!parsed.ok()) return parsed.status();
  const auto text = folder_.backend().ReadAll(folder_.Manifest(name), kMaxManifestBytes);
  if (!text.ok()) return text.status();
  auto manifest = DecodeManifest(*text);
  if (!manifest.ok()) return manifest.status();
  if (NameOf(*manifest) != *parsed || manifest->job_uid != folder_.uid()) {
    return absl::DataLossError(absl::StrCat("manifest: it is of job ", manifest->job_uid, ", ",
                                            FormatName(NameOf(*manifest)), ", not what its path says"));
  }
  return manifest;
}

}  // namespace rekindle::checkpoint
