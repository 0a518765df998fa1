// Pins: small objects beside the manifests. Without conditional put the order of operations makes them safe:
//   who pins:        writes the pin, then looks for manifest and shards
//   a collection:    removes the manifest, then looks for pins, puts the manifest back where there is one, and only
//                    then removes shards
// One of the two sees the other: a pin that was promised stays a whole checkpoint.
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "checkpoint/store.h"

namespace rekindle::checkpoint {
namespace {

constexpr size_t kMaxPinBytes = 64 << 10;
constexpr size_t kMaxReasonBytes = 4 << 10;

}  // namespace

absl::Status Store::PutPin(const std::string& job_uid, const std::string& name, const Pin& pin) {
  if (pin.why.size() > kMaxReasonBytes) return absl::InvalidArgumentError("a pin's reason has more than 4 KiB");
  // Checked first as well: a name that never was must not leave a pin for a moment.
  if (const auto manifest = ReadManifest(job_uid, name); !manifest.ok()) return manifest.status();
  const std::string path = absl::StrCat(Pins(job_uid), "/", name);
  const nlohmann::ordered_json content = {{"why", pin.why}, {"when", pin.when}};
  const auto replace = nlohmann::json::error_handler_t::replace;  // What is no UTF-8.
  absl::Status status = backend_->Put(path, content.dump(-1, ' ', false, replace) + "\n");
  if (!status.ok()) return status;
  const auto manifest = ReadManifest(job_uid, name);
  status = manifest.ok() ? CheckPresent(job_uid, *manifest) : manifest.status();
  if (status.ok()) status = CheckSpared(*manifest);  // Another collection may have put it back while one removes.
  if (status.ok()) return absl::OkStatus();
  const absl::Status undone = RemovePin(job_uid, name);
  return absl::Status(status.code(), absl::StrCat(name, " was not pinned: ", status.message(),
                                                  undone.ok() ? "" : "; its pin could not be taken back"));
}

absl::Status Store::RemovePin(const std::string& job_uid, const std::string& name) {
  if (!IsSafeName(job_uid)) return absl::InvalidArgumentError("the job uid is no safe name");
  if (const auto parsed = ParseName(name); !parsed.ok()) return parsed.status();
  if (absl::Status status = backend_->Remove(absl::StrCat(Pins(job_uid), "/", name)); !status.ok()) return status;
  const absl::Status settled = backend_->Settle(Pins(job_uid));
  return absl::IsNotFound(settled) ? absl::OkStatus() : settled;  // Nothing was ever pinned.
}

absl::StatusOr<std::set<std::string>> Store::Pinned(const std::string& job_uid) {
  if (!IsSafeName(job_uid)) return absl::InvalidArgumentError("the job uid is no safe name");
  const auto files = backend_->List(Pins(job_uid));
  if (!files.ok()) return files.status();
  std::set<std::string> pinned;
  for (const std::string& file : *files) {
    if (!backend_->IsUnfinished(file) && ParseName(file).ok()) pinned.insert(file);
  }
  return pinned;
}

absl::StatusOr<Pin> Store::ReadPin(const std::string& job_uid, const std::string& name) {
  if (!IsSafeName(job_uid)) return absl::InvalidArgumentError("the job uid is no safe name");
  if (const auto parsed = ParseName(name); !parsed.ok()) return parsed.status();
  const auto text = backend_->ReadAll(absl::StrCat(Pins(job_uid), "/", name), kMaxPinBytes);
  if (!text.ok()) return text.status();
  const nlohmann::json content = nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false);
  Pin pin;
  if (!content.is_object()) return pin;
  if (const auto why = content.find("why"); why != content.end() && why->is_string()) pin.why = *why;
  if (const auto when = content.find("when"); when != content.end() && when->is_number()) pin.when = *when;
  return pin;
}

}  // namespace rekindle::checkpoint
