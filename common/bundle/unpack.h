// Unpacks a bundle into a folder that nobody changes.
#ifndef REKINDLE_COMMON_BUNDLE_UNPACK_H_
#define REKINDLE_COMMON_BUNDLE_UNPACK_H_

#include <string>

#include "absl/status/status.h"

namespace rekindle::common {

// Unpacks the packed bundle in the file `packed`, which must be the bundle `address`, into the folder `folder`. The
// folder appears when all of it is there and right, or not at all. All users may read it, and nobody may write it
// (modes 0555 and 0444). What was at `folder` before is replaced. DATA_LOSS says that the file is damaged.
absl::Status UnpackBundle(const std::string& packed, const std::string& address, const std::string& folder);

// Returns OK if the folder has exactly what the packed bundle has, byte for byte. FAILED_PRECONDITION names the first
// difference. Folders named __pycache__ do not count, because a Python of root makes them.
absl::Status CheckUnpacked(const std::string& packed, const std::string& address, const std::string& folder);

// Removes a folder that UnpackBundle made. Returns OK if there is none.
absl::Status RemoveUnpacked(const std::string& folder);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_BUNDLE_UNPACK_H_
