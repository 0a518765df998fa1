// Sees to it that the code of a job fills no disk: a thread measures what each job has written, and kills the processes
// of a job that has written too much. The thread also removes folders and copies bundles, because that may take long.
#ifndef REKINDLE_WORKER_AGENT_USER_CODE_DISK_GUARD_H_
#define REKINDLE_WORKER_AGENT_USER_CODE_DISK_GUARD_H_

#include <sys/types.h>

#include <map>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "common/process/waker.h"
#include "common/sync/mutex.h"
#include "worker/user_code/code_setting.h"
#include "worker/user_code/disk_use.h"

namespace rekindle::agent {

// Is thread-safe. Folders are the jobs' own, as CodeSetting has them.
class DiskGuard {
 public:
  // `done`, which may be null, is woken when a folder is no longer busy. It must outlive this object.
  explicit DiskGuard(user_code::DiskLimits limits, const common::Waker* done = nullptr);
  ~DiskGuard();

  // Measures from now on what `uid` has written in a job's folder, and in `shared` folders that all users can write to.
  // What the job has written is removed when it is too much.
  void Watch(uid_t uid, const std::string& folder, const std::vector<std::string>& shared);
  // Makes the folder busy until it has removed what an earlier owner of `uid` has left in shared folders. REQUIRES:
  // nothing of the job runs.
  void Clean(uid_t uid, const std::string& folder, const std::vector<std::string>& shared);
  // Makes the folder busy until the bundle in `from` was copied into it.
  void Copy(const user_code::CodeSetting& setting, const std::string& from);
  // Makes the folder busy until it is removed, and before it what `uid` has left in shared folders. REQUIRES: nothing
  // of the job runs.
  void Remove(uid_t uid, const std::string& folder);

  // Returns whether the thread still has something to do in a folder.
  bool IsBusy(const std::string& folder) const;
  // Returns whether the last copy into a folder has failed, and TakeFailure() why. After TakeFailure() it has not.
  bool HasFailed(const std::string& folder) const;
  absl::Status TakeFailure(const std::string& folder);

 private:
  struct Watched {
    std::string folder;
    std::vector<std::string> shared;
  };
  // What is to be done in a folder. Files of `uid` in the shared folders are removed first.
  struct Task {
    uid_t uid = 0;
    std::string folder;
    std::vector<std::string> shared;
    bool removes = false;
    // A copy is made if `from` is not empty.
    user_code::CodeSetting setting;
    std::string from;
  };
  void Run();
  void Add(Task task) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Do(const Task& task);
  void Measure(uid_t uid, const Watched& watched) const;

  const user_code::DiskLimits limits_;
  const common::Waker* const done_;
  const common::Waker waker_;
  mutable common::Mutex mutex_;
  std::map<uid_t, Watched> watched_ ABSL_GUARDED_BY(mutex_);
  std::vector<Task> tasks_ ABSL_GUARDED_BY(mutex_);
  // A folder is in it once for each task.
  std::multiset<std::string> busy_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, absl::Status> failed_ ABSL_GUARDED_BY(mutex_);
  bool ends_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_USER_CODE_DISK_GUARD_H_
