// Packs a folder into a bundle.
#ifndef REKINDLE_COMMON_BUNDLE_PACK_FOLDER_H_
#define REKINDLE_COMMON_BUNDLE_PACK_FOLDER_H_

#include <string>

#include "absl/status/statusor.h"
#include "common/bundle/bundle_writer.h"
#include "common/bundle/folder_files.h"

namespace rekindle::common {

struct PackedFolder {
  FolderFiles found;
  PackedBundle bundle;
};

// Packs the files of a folder that belong into its bundle (ListFolderFiles). The same files make the same address on
// any machine. ABORTED says that a file changed meanwhile, and RESOURCE_EXHAUSTED that the bundle is over a limit. Each
// error says what to do.
absl::StatusOr<PackedFolder> PackFolder(const std::string& folder);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_BUNDLE_PACK_FOLDER_H_
