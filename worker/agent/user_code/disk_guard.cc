#include "worker/agent/user_code/disk_guard.h"

#include <poll.h>

#include <utility>

#include "common/log/log.h"
#include "worker/user_code/confinement.h"

namespace rekindle::agent {
namespace {

// A fast disk takes about 1 GB in this time.
constexpr int kPauseMilliseconds = 500;
// The trainers start the processes of a job again, so code that makes new files without end is not waited for.
constexpr double kRemovalSeconds = 10;

}  // namespace

DiskGuard::DiskGuard(user_code::DiskLimits limits, const common::Waker* done)
    : limits_(limits), done_(done), thread_([this] { Run(); }) {}

DiskGuard::~DiskGuard() {
  {
    const common::MutexLock lock(mutex_);
    ends_ = true;
  }
  waker_.Wake();
  thread_.join();
}

void DiskGuard::Watch(uid_t uid, const std::string& folder, const std::vector<std::string>& shared) {
  const common::MutexLock lock(mutex_);
  watched_[uid] = {.folder = folder, .shared = shared};
  waker_.Wake();
}

void DiskGuard::Add(Task task) {
  busy_.insert(task.folder);
  tasks_.push_back(std::move(task));
  waker_.Wake();
}

void DiskGuard::Clean(uid_t uid, const std::string& folder, const std::vector<std::string>& shared) {
  const common::MutexLock lock(mutex_);
  Add({.uid = uid, .folder = folder, .shared = shared});
}

void DiskGuard::Copy(const user_code::CodeSetting& setting, const std::string& from) {
  const common::MutexLock lock(mutex_);
  failed_.erase(setting.folder);
  Add({.folder = setting.folder, .setting = setting, .from = from});
}

void DiskGuard::Remove(uid_t uid, const std::string& folder) {
  const common::MutexLock lock(mutex_);
  Task task{.uid = uid, .folder = folder, .removes = true};
  if (const auto found = watched_.find(uid); found != watched_.end()) {
    task.shared = std::move(found->second.shared);
    watched_.erase(found);
  }
  failed_.erase(folder);
  Add(std::move(task));
}

bool DiskGuard::IsBusy(const std::string& folder) const {
  const common::MutexLock lock(mutex_);
  return busy_.contains(folder);
}

bool DiskGuard::HasFailed(const std::string& folder) const {
  const common::MutexLock lock(mutex_);
  return failed_.contains(folder);
}

absl::Status DiskGuard::TakeFailure(const std::string& folder) {
  const common::MutexLock lock(mutex_);
  const auto found = failed_.find(folder);
  if (found == failed_.end()) return absl::OkStatus();
  absl::Status why = std::move(found->second);
  failed_.erase(found);
  return why;
}

void DiskGuard::Do(const Task& task) {
  for (const std::string& folder : task.shared) user_code::RemoveFilesOf(task.uid, folder);
  if (task.removes) user_code::RemoveCodeFolder(task.folder);
  absl::Status copied = task.from.empty() ? absl::OkStatus() : user_code::CopyBundle(task.setting, task.from);
  const common::MutexLock lock(mutex_);
  if (!copied.ok()) failed_[task.folder] = std::move(copied);
  busy_.erase(busy_.find(task.folder));
  if (done_ != nullptr) done_->Wake();
}

void DiskGuard::Run() {
  for (;;) {
    std::map<uid_t, Watched> watched;
    std::vector<Task> tasks;
    bool ends = false;
    {
      const common::MutexLock lock(mutex_);
      watched = watched_;
      tasks = std::exchange(tasks_, {});
      ends = ends_;
    }
    for (const Task& task : tasks) Do(task);
    if (ends) return;
    // A user id that was given up while this thread was at work above is not another job's yet: the folder that holds
    // it is removed by this thread.
    for (const auto& [uid, each] : watched) Measure(uid, each);
    pollfd entry = {.fd = waker_.fd(), .events = POLLIN};
    poll(&entry, 1, watched.empty() ? -1 : kPauseMilliseconds);
    waker_.Clear();
  }
}

void DiskGuard::Measure(uid_t uid, const Watched& watched) const {
  const std::string scratch = user_code::ScratchOf(watched.folder);
  std::vector<std::string> shared = watched.shared;
  shared.push_back(user_code::FaultsOf(watched.folder));
  std::vector<std::string> folders = shared;
  folders.push_back(scratch);
  const absl::Status fits = user_code::CheckDiskUse(user_code::MeasureDiskUse(uid, folders, limits_), limits_);
  if (fits.ok()) return;
  log::Warning("the processes of a job's own code are killed",
               {{"uid", static_cast<long long>(uid)}, {"why", std::string(fits.message())}});
  const absl::Status killed = user_code::KillAll(uid);
  if (!killed.ok()) log::Error("they cannot be killed", {{"why", std::string(killed.message())}});
  user_code::EmptyFolder(scratch, kRemovalSeconds);
  for (const std::string& folder : shared) user_code::RemoveFilesOf(uid, folder, kRemovalSeconds);
}

}  // namespace rekindle::agent
