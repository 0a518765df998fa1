#include "common/bundle/pack_folder.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/files/file.h"

namespace rekindle::common {
namespace {

constexpr size_t kReadAtOnce = 1 << 20;

absl::Status AddFile(const std::string& path, const BundleEntry& entry, std::vector<char>& buffer,
                     BundleWriter* writer) {
  if (absl::Status begun = writer->Begin(entry); !begun.ok()) return begun;
  const auto file = PosixFileSystem()->Open(path);
  if (!file.ok()) return file.status();
  for (int64_t at = 0;;) {
    const absl::StatusOr<size_t> got = (*file)->ReadAt(at, buffer.data(), buffer.size());
    if (!got.ok()) return got.status();
    if (*got == 0) return absl::OkStatus();
    at += static_cast<int64_t>(*got);
    if (absl::Status added = writer->Content({buffer.data(), *got}); !added.ok()) return added;
  }
}

// Returns the error with the folder's name, and says what is large if it is too large.
absl::Status Explained(const FolderFiles& found, const absl::Status& error) {
  if (absl::IsInvalidArgument(error)) {
    return absl::InvalidArgumentError(
        absl::StrCat(found.folder, ": ", error.message(), ": rename it, or leave it out by a line in .rekindleignore"));
  }
  if (!absl::IsResourceExhausted(error)) return error;
  return absl::ResourceExhaustedError(
      absl::StrCat(found.folder, ": ", error.message(), ", which is more than is sent. The largest are ",
                   LargestParts(found.files), ": leave out what the code does not need by lines in .rekindleignore"));
}

}  // namespace

absl::StatusOr<PackedFolder> PackFolder(const std::string& folder) {
  absl::StatusOr<FolderFiles> found = ListFolderFiles(folder);
  if (!found.ok()) return found.status();
  BundleWriter writer;
  std::vector<char> buffer(kReadAtOnce);
  for (const BundleEntry& entry : found->files) {
    const absl::Status added = AddFile(absl::StrCat(found->folder, "/", entry.name), entry, buffer, &writer);
    if (!added.ok()) return Explained(*found, added);
  }
  absl::StatusOr<PackedBundle> bundle = writer.Finish();
  if (!bundle.ok()) return Explained(*found, bundle.status());
  return PackedFolder{*std::move(found), *std::move(bundle)};
}

}  // namespace rekindle::common
