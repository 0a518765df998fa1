// Finds the files of a folder that belong into its bundle.
#ifndef REKINDLE_COMMON_BUNDLE_FOLDER_FILES_H_
#define REKINDLE_COMMON_BUNDLE_FOLDER_FILES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/bundle/bundle.h"

namespace rekindle::common {

struct FolderFiles {
  // `folder` is the path of the folder without links in it.
  std::string folder;
  // `files` is in the order of the bytes of the names.
  std::vector<BundleEntry> files;
  // `withheld` names what is never sent (never_sent.h) and is there.
  std::vector<std::string> withheld;
};

// Lists the files below `folder`. The rules of .gitignore in it, in its folders, and in the folders above it up to that
// of its repository are followed, and after them those of .rekindleignore, which win. A link to a file of the folder
// stands for the file.
//
// INVALID_ARGUMENT names a link that leads out of the folder, to a folder or nowhere, and anything that is neither a
// file nor a folder, and says how to leave it out. RESOURCE_EXHAUSTED says that the files are over a limit of a bundle,
// and what the largest parts are. Other errors are those of reading the folder.
absl::StatusOr<FolderFiles> ListFolderFiles(const std::string& folder);

// Returns the largest parts of the files, such as "data/ (1.2 GB), model.bin (300.0 MB)".
std::string LargestParts(const std::vector<BundleEntry>& files);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_BUNDLE_FOLDER_FILES_H_
