// Runs rekindle-checkpoint on a file system in which tests inject faults while it runs. The program is not installed.
//
// REKINDLE_TEST_FILE_FAULTS names a file with one line, which is read before each operation. A changed line starts a
// new count:
//   kill N PID...      before operation N from now, kills those processes. PID 0 is this process. It first writes half
//                      of the operation if that is an append
//   fail KIND ERRNO    each operation of that kind fails with that error; kinds are create, append, sync, close,
//                      rename, remove, list, stat, open, ...
//   slow KIND SECONDS  each operation of that kind takes that much longer
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "checkpoint/service/service_main.h"
#include "common/files/file.h"
#include "common/sync/mutex.h"

namespace rekindle::checkpoint {
namespace {

class Plan {
 public:
  // `half` writes half of the operation during which this process is killed.
  template <typename Half>
  absl::Status Before(const std::string& kind, const std::string& path, Half half) {
    common::MutexLock lock(mutex_);
    std::string line;
    std::getline(std::ifstream(path_), line);
    if (line != line_) done_ = 0;
    line_ = line;
    const int64_t number = done_++;
    std::istringstream words(line);
    std::string verb;
    words >> verb;
    if (verb == "slow") {
      // The lock is released before the delay, because a slow disk serves several threads at once.
      lock.Unlock();
      Delay(words, kind);
    }
    if (verb == "kill") Kill(words, number, half);
    if (verb == "fail") return Fail(words, kind, path);
    return absl::OkStatus();
  }
  absl::Status Before(const std::string& kind, const std::string& path) {
    return Before(kind, path, [] {});
  }

 private:
  template <typename Half>
  static void Kill(std::istringstream& words, int64_t number, Half half) {
    int64_t at = -1;
    words >> at;
    if (number != at) return;
    const std::vector<pid_t> victims{std::istream_iterator<pid_t>(words), {}};
    if (std::find(victims.begin(), victims.end(), 0) != victims.end()) half();
    for (const pid_t pid : victims) ::kill(pid == 0 ? ::getpid() : pid, SIGKILL);
  }
  static void Delay(std::istringstream& words, const std::string& kind) {
    std::string which;
    double seconds = 0;
    words >> which >> seconds;
    if (which == kind) std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  }
  static absl::Status Fail(std::istringstream& words, const std::string& kind, const std::string& path) {
    std::string which;
    int error = 0;
    words >> which >> error;
    return which == kind ? common::ErrnoStatus(error, kind, path) : absl::OkStatus();
  }

  const std::string path_ = std::getenv("REKINDLE_TEST_FILE_FAULTS");
  common::Mutex mutex_;
  std::string line_ ABSL_GUARDED_BY(mutex_);
  int64_t done_ ABSL_GUARDED_BY(mutex_) = 0;
};

class SpoiledFile : public common::WritableFile {
 public:
  SpoiledFile(std::unique_ptr<common::WritableFile> file, std::string path, Plan& plan)
      : file_(std::move(file)), path_(std::move(path)), plan_(plan) {}
  absl::Status Append(const void* data, size_t bytes) override {
    const absl::Status status = plan_.Before("append", path_, [&] { file_->Append(data, bytes / 2).IgnoreError(); });
    return status.ok() ? file_->Append(data, bytes) : status;
  }
  absl::Status Overwrite(int64_t offset, const void* data, size_t bytes) override {
    const absl::Status status = plan_.Before("overwrite", path_);
    return status.ok() ? file_->Overwrite(offset, data, bytes) : status;
  }
  absl::Status Sync() override {
    const absl::Status status = plan_.Before("sync", path_);
    return status.ok() ? file_->Sync() : status;
  }
  // Fails like close(2): the file is closed, and some of its bytes may be lost.
  absl::Status Close() override {
    const absl::Status status = plan_.Before("close", path_);
    const absl::Status closed = file_->Close();
    return status.ok() ? closed : status;
  }

 private:
  const std::unique_ptr<common::WritableFile> file_;
  const std::string path_;
  Plan& plan_;
};

class SpoiledFiles : public common::FileSystem {
 public:
  explicit SpoiledFiles(common::FileSystem& files) : files_(files) {}

  absl::StatusOr<std::unique_ptr<common::WritableFile>> Create(const std::string& path) override {
    if (absl::Status status = plan_.Before("create", path); !status.ok()) return status;
    auto file = files_.Create(path);
    if (!file.ok()) return file.status();
    return std::make_unique<SpoiledFile>(*std::move(file), path, plan_);
  }
  absl::StatusOr<std::unique_ptr<common::ReadableFile>> Open(const std::string& path) override {
    if (absl::Status status = plan_.Before("open", path); !status.ok()) return status;
    return files_.Open(path);
  }
  absl::Status Rename(const std::string& from, const std::string& to) override {
    const absl::Status status = plan_.Before("rename", to);
    return status.ok() ? files_.Rename(from, to) : status;
  }
  absl::Status Remove(const std::string& path) override {
    const absl::Status status = plan_.Before("remove", path);
    return status.ok() ? files_.Remove(path) : status;
  }
  absl::Status CreateFolder(const std::string& path) override {
    const absl::Status status = plan_.Before("folder", path);
    return status.ok() ? files_.CreateFolder(path) : status;
  }
  absl::Status SyncDir(const std::string& path) override {
    const absl::Status status = plan_.Before("sync_folder", path);
    return status.ok() ? files_.SyncDir(path) : status;
  }
  absl::StatusOr<std::vector<std::string>> List(const std::string& path) override {
    if (absl::Status status = plan_.Before("list", path); !status.ok()) return status;
    return files_.List(path);
  }
  absl::StatusOr<common::FileInfo> Stat(const std::string& path) override {
    if (absl::Status status = plan_.Before("stat", path); !status.ok()) return status;
    return files_.Stat(path);
  }
  absl::Status Touch(const std::string& path) override {
    const absl::Status status = plan_.Before("touch", path);
    return status.ok() ? files_.Touch(path) : status;
  }

 private:
  common::FileSystem& files_;
  Plan plan_;
};

}  // namespace
}  // namespace rekindle::checkpoint

int main(int argc, char** argv) {
  namespace rk = rekindle;
  const auto spoil = [](rk::common::FileSystem& files) -> rk::common::FileSystem& {
    return *new rk::checkpoint::SpoiledFiles(files);
  };
  return rk::checkpoint::ServiceMain(argc, argv, "checkpoint_faulty_service", spoil);
}
