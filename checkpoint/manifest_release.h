// What is said of a manifest that a newer release made: it is whole, and not for this one to read. Whoever takes it for
// a damaged one goes back behind it, or removes the shards that it names.
//
// All formats to come keep what a reader needs to tell so: the manifest's name, the frame with its checksum, strict
// JSON of at most kMaxManifestBytes, and in it `format` and kNeedsRelease. What a reader may pass over goes into
// `scalars`, where names that it does not know are ignored and kept by copies; anything else that is new raises
// `format`.
#ifndef REKINDLE_CHECKPOINT_MANIFEST_RELEASE_H_
#define REKINDLE_CHECKPOINT_MANIFEST_RELEASE_H_

#include <string>

#include "absl/status/status.h"

namespace rekindle::checkpoint {

// The field of every format above 2 that names the first release which reads it: "0.2.0".
inline constexpr char kNeedsRelease[] = "needs_release";

// FAILED_PRECONDITION, with what to install. `needs_release` is the field as it was read: empty, or not a release's
// number, says no more than that a newer one is needed.
absl::Status NewerFormat(int format, const std::string& needs_release);
// The same of another document than a manifest: `what`, of which this release reads formats up to `reads`.
absl::Status NewerFormatOf(const std::string& what, int format, int reads, const std::string& needs_release);
// This is the error for a field that the format does not have.
absl::Status UnknownField(const std::string& object, const std::string& field);

// Whether `status` is one of these, and not yet another process's.
bool IsOfNewerRelease(const absl::Status& status);

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_MANIFEST_RELEASE_H_
