// Gives code that reads through a FileSystem the files that a job may read (data_roots.h).
#ifndef REKINDLE_WORKER_DATA_FILES_ROOTED_FILES_H_
#define REKINDLE_WORKER_DATA_FILES_ROOTED_FILES_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/files/file.h"
#include "worker/data/files/data_roots.h"

namespace rekindle::data {

// Opens and inspects files. Every other call returns UNIMPLEMENTED. The class is thread-safe.
class RootedFiles final : public common::FileSystem {
 public:
  explicit RootedFiles(DataRoots roots) : roots_(std::move(roots)) {}

  absl::StatusOr<std::unique_ptr<common::ReadableFile>> Open(const std::string& path) override;
  absl::StatusOr<common::FileInfo> Stat(const std::string& path) override;

  absl::StatusOr<std::unique_ptr<common::WritableFile>> Create(const std::string&) override { return OnlyReads(); }
  absl::Status Rename(const std::string&, const std::string&) override { return OnlyReads(); }
  absl::Status Remove(const std::string&) override { return OnlyReads(); }
  absl::Status CreateFolder(const std::string&) override { return OnlyReads(); }
  absl::Status SyncDir(const std::string&) override { return OnlyReads(); }
  absl::StatusOr<std::vector<std::string>> List(const std::string&) override { return OnlyReads(); }
  absl::Status Touch(const std::string&) override { return OnlyReads(); }

 private:
  static absl::Status OnlyReads() { return absl::UnimplementedError("a job's files are only read"); }

  const DataRoots roots_;
};

}  // namespace rekindle::data

#endif  // REKINDLE_WORKER_DATA_FILES_ROOTED_FILES_H_
