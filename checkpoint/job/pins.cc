#include "checkpoint/job/pins.h"

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "checkpoint/job/condemned_shards.h"
#include "checkpoint/job/job_manifests.h"
#include "checkpoint/job/job_shards.h"

namespace rekindle::checkpoint {
namespace {

constexpr size_t kMaxPinBytes = 64 << 10;
constexpr size_t kMaxReasonBytes = 4 << 10;

}  // namespace

absl::Status Pins::Put(const std::string& name, const Pin& pin) {
  if (pin.why.size() > kMaxReasonBytes) return absl::InvalidArgumentError("a pin's reason has more than 4 KiB");
  JobManifests manifests(folder_);
  // The manifest is read before the pin is written as well as after it, because a name that no checkpoint has must not
  // get a pin, not even for a moment.
  if (const auto manifest = manifests.Read(name); !manifest.ok()) return manifest.status();
  const nlohmann::ordered_json content = {{"why", pin.why}, {"when", pin.when}};
  // Bytes of a pin's reason that are not UTF-8 are replaced, because the pin is stored as JSON.
  const auto replace = nlohmann::json::error_handler_t::replace;
  absl::Status status = folder_.backend().Put(folder_.Pin(name), content.dump(-1, ' ', false, replace) + "\n");
  if (!status.ok()) return status;
  const auto manifest = manifests.Read(name);
  status = manifest.ok() ? JobShards(folder_).CheckPresent(manifest->shards) : manifest.status();
  // The shards of a manifest that is there may still be removed: one collection has put the manifest back, and another
  // collection continues.
  if (status.ok()) status = CondemnedShards(folder_).CheckSpared(manifest->shards);
  if (status.ok()) return absl::OkStatus();
  const absl::Status undone = Remove(name);
  return absl::Status(status.code(), absl::StrCat(name, " was not pinned: ", status.message(),
                                                  undone.ok() ? "" : "; its pin could not be taken back"));
}

absl::Status Pins::Remove(const std::string& name) {
  if (absl::Status status = folder_.Check(); !status.ok()) return status;
  if (const auto parsed = ParseName(name); !parsed.ok()) return parsed.status();
  if (absl::Status status = folder_.backend().Remove(folder_.Pin(name)); !status.ok()) return status;
  const absl::Status synced = folder_.backend().SyncFolder(folder_.Pins());
  // The folder of pins is missing (NOT_FOUND) if the job never had a pin.
  return absl::IsNotFound(synced) ? absl::OkStatus() : synced;
}

absl::StatusOr<std::set<std::string>> Pins::Names() {
  if (absl::Status status = folder_.Check(); !status.ok()) return status;
  const auto files = folder_.backend().List(folder_.Pins());
  if (!files.ok()) return files.status();
  std::set<std::string> pinned;
  for (const std::string& file : *files) {
    if (!folder_.backend().IsUnfinished(file) && ParseName(file).ok()) pinned.insert(file);
  }
  return pinned;
}

absl::StatusOr<Pin> Pins::Read(const std::string& name) {
  if (absl::Status status = folder_.Check(); !status.ok()) return status;
  if (const auto parsed = ParseName(name); !parsed.ok()) return parsed.status();
  const auto text = folder_.backend().ReadAll(folder_.Pin(name), kMaxPinBytes);
  if (!text.ok()) return text.status();
  const nlohmann::json content = nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false);
  Pin pin;
  if (!content.is_object()) return pin;
  if (const auto why = content.find("why"); why != content.end() && why->is_string()) pin.why = *why;
  if (const auto when = content.find("when"); when != content.end() && when->is_number()) pin.when = *when;
  return pin;
}

}  // namespace rekindle::checkpoint
