// Implements a checkpoint store in a folder, through a FileSystem: it writes a temporary file, syncs it, renames it,
// and syncs the folder.
#ifndef REKINDLE_CHECKPOINT_BACKENDS_FILE_BACKEND_H_
#define REKINDLE_CHECKPOINT_BACKENDS_FILE_BACKEND_H_

#include <string>
#include <utility>
#include <vector>

#include "checkpoint/backends/store_backend.h"

namespace rekindle::checkpoint {

class FileBackend : public StoreBackend {
 public:
  // `fs` is the file system of the folder `root`, and must outlive the FileBackend.
  FileBackend(common::FileSystem& fs, std::string root) : fs_(fs), root_(std::move(root)) {}

  absl::Status PutShard(const std::string& path, std::span<const uint8_t> content, const std::string& xxh3) override;
  absl::Status Put(const std::string& path, const std::string& content) override;
  absl::Status SyncFolder(const std::string& folder) override { return fs_.SyncDir(Full(folder)); }
  absl::Status Remove(const std::string& path) override;
  absl::Status Touch(const std::string& path) override { return fs_.Touch(Full(path)); }
  absl::Status Read(const std::string& path, int64_t size, const Sink& sink, uint8_t* into) override;
  absl::StatusOr<std::string> ReadAll(const std::string& path, size_t limit) override {
    return common::ReadFile(fs_, Full(path), limit);
  }
  absl::StatusOr<common::FileInfo> Stat(const std::string& path) override { return fs_.Stat(Full(path)); }
  absl::StatusOr<std::vector<absl::StatusOr<common::FileInfo>>> StatAll(const std::string& folder,
                                                                        const std::vector<std::string>& names) override;
  absl::StatusOr<std::vector<std::string>> List(const std::string& folder) override;
  bool HasFolder(const std::string& folder) override { return fs_.Stat(Full(folder)).ok(); }
  bool IsUnfinished(const std::string& name) const override { return common::IsTemporaryName(name); }

 private:
  std::string Full(const std::string& path) const { return path.empty() ? root_ : root_ + "/" + path; }
  absl::Status Write(std::span<const uint8_t> content, const std::string& xxh3, const std::string& temporary);

  common::FileSystem& fs_;
  const std::string root_;
};

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_BACKENDS_FILE_BACKEND_H_
