// Holds the number of the manifest's format, and makes the errors for documents that a newer release has written. A
// manifest of a newer release is whole, but this release cannot read it. Code that takes it for a damaged manifest
// would fall back to an older checkpoint, or remove the shards that the manifest names.
//
// All future formats keep what a reader needs to recognize them: the manifest's name, the frame with its checksum,
// strict JSON of at most kMaxManifestBytes, and in it `format` and kNeedsRelease. New data that a reader may ignore
// goes into `scalars`, where unknown names are ignored and copies keep them. Anything else that is new raises `format`.
#ifndef REKINDLE_CHECKPOINT_FORMAT_MANIFEST_RELEASE_H_
#define REKINDLE_CHECKPOINT_FORMAT_MANIFEST_RELEASE_H_

#include <string>

#include "absl/status/status.h"

namespace rekindle::checkpoint {

// This release writes and reads manifests of the format `kManifestFormat`.
inline constexpr int kManifestFormat = 2;
// Every manifest format above 2 has the field `needs_release`. It names the first release that reads the format, for
// example "0.2.0".
inline constexpr char kNeedsRelease[] = "needs_release";

// Returns FAILED_PRECONDITION that says which release to install to read the manifest. `needs_release` is the
// manifest's field as it was read. If it is empty or is not a release number, the error says only that a newer release
// is needed.
absl::Status NewerFormat(int format, const std::string& needs_release);
// Works like NewerFormat for a document other than a manifest, which the error calls `what`. This release reads the
// document's formats up to `reads`.
absl::Status NewerFormatOf(const std::string& what, int format, int reads, const std::string& needs_release);
// Returns FAILED_PRECONDITION for a field that the document's format does not have, because a newer release must have
// added it.
absl::Status UnknownField(const std::string& object, const std::string& field);

// Returns whether `status` is an error of NewerFormat, NewerFormatOf or UnknownField that was made in this process.
bool IsOfNewerRelease(const absl::Status& status);

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_FORMAT_MANIFEST_RELEASE_H_
