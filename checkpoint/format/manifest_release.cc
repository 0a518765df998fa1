#include "checkpoint/format/manifest_release.h"

#include <algorithm>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "common/text/printable.h"

namespace rekindle::checkpoint {
namespace {

// `kMark` is the payload of a status that says that a newer release made a document. The status code alone does not say
// so, because errors of a store may have the same code.
constexpr char kMark[] = "rekindle/newer-release";
constexpr char kManifest[] = "manifest";
constexpr size_t kMaxRelease = 32;
constexpr size_t kMaxShown = 64;

bool IsRelease(const std::string& text) {
  const auto allowed = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '.' || c == '-'; };
  return !text.empty() && text.size() <= kMaxRelease && text[0] >= '0' && text[0] <= '9' &&
         std::all_of(text.begin(), text.end(), allowed);
}

absl::Status Newer(const std::string& what, const std::string& why, const std::string& install) {
  absl::Status status =
      absl::FailedPreconditionError(absl::StrCat(what, ": made by a newer release (", why, "): install ", install));
  status.SetPayload(kMark, absl::Cord());
  return status;
}

}  // namespace

absl::Status NewerFormat(int format, const std::string& needs_release) {
  return NewerFormatOf(kManifest, format, kManifestFormat, needs_release);
}

absl::Status NewerFormatOf(const std::string& what, int format, int reads, const std::string& needs_release) {
  return Newer(
      what, absl::StrCat("format ", format, ", this one reads up to ", reads),
      IsRelease(needs_release) ? absl::StrCat("release ", needs_release, " or later") : "the release that made it");
}

absl::Status UnknownField(const std::string& object, const std::string& field) {
  return Newer(kManifest, absl::StrCat(object, " has an unknown field '", common::Printable(field, kMaxShown), "'"),
               "the release that made it");
}

bool IsOfNewerRelease(const absl::Status& status) { return status.GetPayload(kMark).has_value(); }

}  // namespace rekindle::checkpoint
