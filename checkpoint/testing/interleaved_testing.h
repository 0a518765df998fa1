// Provides the folder of a checkpoint store for tests in which another process acts between two operations on that
// folder.
#ifndef REKINDLE_CHECKPOINT_TESTING_INTERLEAVED_TESTING_H_
#define REKINDLE_CHECKPOINT_TESTING_INTERLEAVED_TESTING_H_

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/backends/file_backend.h"

namespace rekindle::checkpoint {

// Runs `act` before operation number `at`. Operations of `act` itself are not counted.
class Interleaved : public StoreBackend {
 public:
  Interleaved(common::FileSystem& fs, int at, std::function<void()> act)
      : files_(fs, "/store"), at_(at), act_(std::move(act)) {}

  int operations() const { return count_; }

  absl::Status PutShard(const std::string& path, std::span<const uint8_t> content, const std::string& xxh3) override {
    return Before().PutShard(path, content, xxh3);
  }
  absl::Status Put(const std::string& path, const std::string& content) override { return Before().Put(path, content); }
  absl::Status SyncFolder(const std::string& folder) override { return Before().SyncFolder(folder); }
  absl::Status Remove(const std::string& path) override { return Before().Remove(path); }
  absl::Status Touch(const std::string& path) override { return Before().Touch(path); }
  absl::Status Read(const std::string& path, int64_t size, const Sink& sink, uint8_t* into) override {
    return Before().Read(path, size, sink, into);
  }
  absl::StatusOr<std::string> ReadAll(const std::string& path, size_t limit) override {
    return Before().ReadAll(path, limit);
  }
  absl::StatusOr<common::FileInfo> Stat(const std::string& path) override { return Before().Stat(path); }
  absl::StatusOr<std::vector<absl::StatusOr<common::FileInfo>>> StatAll(
      const std::string& folder, const std::vector<std::string>& names) override {
    return Before().StatAll(folder, names);
  }
  absl::StatusOr<std::vector<std::string>> List(const std::string& folder) override { return Before().List(folder); }
  bool HasFolder(const std::string& folder) override { return files_.HasFolder(folder); }
  bool IsUnfinished(const std::string& name) const override { return files_.IsUnfinished(name); }

 private:
  FileBackend& Before() {
    if (count_++ == at_) act_();
    return files_;
  }

  FileBackend files_;
  const int at_;
  const std::function<void()> act_;
  int count_ = 0;
};

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_TESTING_INTERLEAVED_TESTING_H_
