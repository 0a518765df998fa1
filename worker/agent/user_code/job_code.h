// Keeps the code of the jobs of this node: gives each job a user id, a folder and a warm process, and takes all of it
// away when the job leaves the node. A later agent of the same folder finds it by records.
#ifndef REKINDLE_WORKER_AGENT_USER_CODE_JOB_CODE_H_
#define REKINDLE_WORKER_AGENT_USER_CODE_JOB_CODE_H_

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/process/process.h"
#include "common/process/waker.h"
#include "rekindle/v1/node.pb.h"
#include "worker/agent/folder/node_folder.h"
#include "worker/agent/user_code/disk_guard.h"
#include "worker/agent/user_code/warm_process.h"
#include "worker/agent/user_code/warm_record.h"
#include "worker/user_code/code_setting.h"
#include "worker/user_code/code_uids.h"

namespace rekindle::agent {

struct JobCodeOptions {
  // `isolation` is the strongest that works here.
  user_code::Isolation isolation = user_code::Isolation::kNone;
  // `may_be_unisolated` says that code may run as this process's user where nothing isolates it.
  bool may_be_unisolated = false;
  user_code::UidRange uids;
  user_code::UidPlaces uid_places;
  user_code::DiskLimits disk;
  // `python` is the node's interpreter, unless the job names one.
  std::string python;
  std::vector<std::string> data_roots;
  // `memory_bytes` is a trainer's share of the node's memory.
  double memory_bytes = 0;
  // `program` is the file of rekindle-worker, for the process of code_watch.h. Without it nobody watches.
  std::string program;
};

// Returns the folder of code of users that belongs to a node's folder. It is beside that one, because the node's folder
// stays closed to other users.
std::string CodeRootOf(const NodeFolder& folder);

// JobCode is thread-compatible. No function waits.
class JobCode {
 public:
  // `folder` and `waker` must outlive this object. `waker`, which may be null, is woken when IsReady() may return
  // another answer.
  JobCode(JobCodeOptions options, const NodeFolder* folder, const common::Waker* waker = nullptr);

  // Takes over what an earlier agent of this folder has left in this boot, and removes what is nobody's any more. It is
  // called once, before every other function.
  void Adopt();

  // Begins what must be done before Prepare() and may take long: the end of an earlier stay of the job, the removal of
  // what that or the job's user id has left, and the copy of its bundle. Returns whether all of it is done, or has
  // failed as Prepare() says. REQUIRES: the job's bundle is unpacked on this node.
  bool IsReady(const v1::DesiredTrainer& desired);

  // Prepares the code of a job for a trainer that is about to start, and starts the job's warm process. Returns the
  // trainer's arguments for it. Returns PERMISSION_DENIED if the code must not run here, and an error if the next agent
  // would not know of it. REQUIRES: IsReady().
  absl::StatusOr<std::vector<std::string>> Prepare(const v1::DesiredTrainer& desired);

  // Ends the code of all jobs that are not in `jobs`, and starts warm processes again that have died. Returns when to
  // call it again at the latest.
  double Keep(const std::set<std::string>& jobs, double now);

  // Returns descriptors that become readable when a warm process has ended.
  std::vector<int> WatchFds() const;

  // Returns how the code of a job is kept, or nothing if Prepare() was not called for it.
  std::optional<user_code::CodeSetting> SettingOf(const std::string& job_uid) const;

 private:
  struct Entry {
    WarmRecord record;
    std::optional<WarmProcess> warm;
    // `setting` and `desired` are unset in an entry that was adopted, until a trainer starts.
    std::optional<user_code::CodeSetting> setting;
    v1::DesiredTrainer desired;
    // A job that has begun to leave leaves wholly, even if it is wanted here again meanwhile.
    bool is_leaving = false;
    int deaths = 0;
    double start_again_at = 0;
  };

  std::string SocketOf(const std::string& job_uid) const;
  std::string RecordOf(const std::string& job_uid) const;
  std::string FolderOf(const std::string& job_uid) const;
  bool MayRun() const;
  void RemoveLeftFolders();
  static bool NeedsCopy(const user_code::CodeSetting& setting, const v1::DesiredTrainer& desired);
  absl::StatusOr<user_code::CodeSetting> MakeFolders(Entry& entry, const v1::DesiredTrainer& desired);
  // Returns the folder of the task's module.
  std::string TaskFolder(const v1::JobSpec::Model& model, const user_code::CodeSetting& setting) const;
  // Returns OK if the folder that a job names as that of its code is one that jobs may read.
  absl::Status CheckNamedFolder(const v1::JobSpec::Model& model) const;
  void StartWarm(Entry& entry, double now);
  // Makes sure that the code of jobs with user ids ends if this process is killed.
  void Watch();
  // Writes the record down for the next agent. A failure is logged as well.
  absl::Status Write(const Entry& entry) const;
  void NoteDeath(Entry& entry, double now);
  // Ends what a job has here. Returns when to call it again, or nothing if all of it is gone.
  std::optional<double> Leave(Entry& entry, double now);

  const JobCodeOptions options_;
  const NodeFolder* const folder_;
  const std::string root_;
  std::map<std::string, Entry> entries_;
  std::optional<common::Process> watch_;
  DiskGuard guard_;
};

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_USER_CODE_JOB_CODE_H_
