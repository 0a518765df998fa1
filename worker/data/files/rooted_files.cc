#include "worker/data/files/rooted_files.h"

namespace rekindle::data {

absl::StatusOr<std::unique_ptr<common::ReadableFile>> RootedFiles::Open(const std::string& path) {
  const absl::StatusOr<common::UniqueFd> file = roots_.Open(path);
  if (!file.ok()) return file.status();
  return common::PosixFileSystem()->Open("/proc/self/fd/" + std::to_string(file->get()));
}

absl::StatusOr<common::FileInfo> RootedFiles::Stat(const std::string& path) {
  const absl::StatusOr<DataRoots::Found> found = roots_.Find(path);
  if (!found.ok()) return found.status();
  if (found->own) return DataRoots::RefuseOwn(path);
  return common::PosixFileSystem()->Stat(found->Name());
}

}  // namespace rekindle::data
