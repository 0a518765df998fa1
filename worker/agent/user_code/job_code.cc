#include "worker/agent/user_code/job_code.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/bundle/bundle.h"
#include "common/digest/hash.h"
#include "common/log/log.h"
#include "common/process/command.h"
#include "common/time/clock.h"
#include "worker/agent/folder/small_file.h"
#include "worker/agent/user_code/code_watch.h"
#include "worker/data/files/data_roots.h"
#include "worker/numeric/pinned_environment.h"

namespace rekindle::agent {
namespace {

constexpr int kMostThreads = 1024;
constexpr size_t kNameDigits = 8;
// A warm process that dies is started again after this time, which doubles at each death.
constexpr double kFirstPause = 1, kLongestPause = 60;
constexpr int kMostDoublings = 6;
// Processes that could not be killed are killed again after this time.
constexpr double kKillAgainPause = 1;

std::string NameFor(const std::string& job_uid) { return common::Xxh3_128Hex(job_uid).substr(0, kNameDigits); }

// Returns folders in which every user can make files on usual systems. Landlock leaves /dev/shm of them.
std::vector<std::string> SharedFolders(user_code::Isolation isolation) {
  if (isolation == user_code::Isolation::kUidAndLandlock) return {"/dev/shm"};
  return {"/dev/shm", "/tmp", "/var/tmp", "/var/crash", "/run/lock"};
}

user_code::NamedValues PinnedFor(const v1::JobSpec& spec) {
  const int threads = std::clamp(spec.workers().threads_per_rank(), 1, kMostThreads);
  const std::string& precision = spec.training().precision();
  return models::PinnedEnvironment(threads, precision == "bf16" || precision == "fp16");
}

}  // namespace

std::string CodeRootOf(const NodeFolder& folder) { return folder.dir() + ".code"; }

JobCode::JobCode(JobCodeOptions options, const NodeFolder* folder, const common::Waker* waker)
    : options_(std::move(options)), folder_(folder), root_(CodeRootOf(*folder)), guard_(options_.disk, waker) {}

std::string JobCode::SocketOf(const std::string& job_uid) const {
  return absl::StrCat(folder_->WarmFolder(), "/", NameFor(job_uid));
}

std::string JobCode::FolderOf(const std::string& job_uid) const { return absl::StrCat(root_, "/", NameFor(job_uid)); }

std::string JobCode::RecordOf(const std::string& job_uid) const { return SocketOf(job_uid) + ".json"; }

void JobCode::Adopt() {
  for (const std::string& name : ListFolder(folder_->WarmFolder())) {
    if (!absl::EndsWith(name, ".json")) continue;
    const std::string path = absl::StrCat(folder_->WarmFolder(), "/", name);
    absl::StatusOr<WarmRecord> record = ReadWarmRecord(path);
    if (!record.ok() || path != RecordOf(record->job_uid) || record->folder != FolderOf(record->job_uid)) {
      log::Warning("ignoring a damaged record of a job's code", {{"file", path}});
      RemoveFile(path);
      continue;
    }
    if (record->boot_id != common::BootId()) {
      // Nothing of the job runs. Nor is the user id its own any more: the claims of a boot end with it, and another
      // agent may have the id by now. The folder is no entry's, so it is removed below.
      RemoveFile(path);
      continue;
    }
    Entry entry{.record = *std::move(record)};
    if (entry.record.process.pid > 0) {
      absl::StatusOr<WarmProcess> warm = WarmProcess::Adopt(entry.record.process);
      if (warm.ok()) {
        log::Info("adopted the warm process of a job", {{"job", entry.record.job_uid}});
        entry.warm = *std::move(warm);
      }
    }
    if (entry.record.isolation != user_code::Isolation::kNone) {
      guard_.Watch(entry.record.uid, entry.record.folder, SharedFolders(entry.record.isolation));
      Watch();
    }
    const std::string job_uid = entry.record.job_uid;
    entries_.emplace(job_uid, std::move(entry));
  }
  RemoveLeftFolders();
}

void JobCode::RemoveLeftFolders() {
  std::set<std::string> used;
  for (const auto& [job_uid, entry] : entries_) used.insert(entry.record.folder);
  for (const std::string& name : ListFolder(root_)) {
    // Nothing else in the folder was made by an agent.
    const bool is_job = name.size() == kNameDigits && name.find_first_not_of("0123456789abcdef") == std::string::npos;
    const std::string path = absl::StrCat(root_, "/", name);
    if ((is_job || absl::StartsWith(name, user_code::kProbe)) && !used.contains(path)) guard_.Remove(0, path);
  }
}

absl::StatusOr<user_code::CodeSetting> JobCode::MakeFolders(Entry& entry, const v1::DesiredTrainer& desired) {
  const v1::JobSpec::Model& model = desired.spec().model();
  WarmRecord& record = entry.record;
  const std::string folder = FolderOf(desired.job_uid());
  for (const auto& [job_uid, other] : entries_) {
    if (job_uid == desired.job_uid() || other.record.folder != folder) continue;
    return absl::UnavailableError(
        absl::StrCat("the folder ", folder, " is that of job ", job_uid,
                     " here: it is tried again, which helps once that job has left the node"));
  }
  if (record.folder.empty()) {
    record = {.job_uid = desired.job_uid(), .isolation = options_.isolation, .folder = folder};
    record.boot_id = common::BootId();
  }
  if (absl::Status made = user_code::MakeCodeRoot(root_); !made.ok()) return made;
  user_code::CodeSetting setting{.isolation = record.isolation,
                                 .uid = record.uid,
                                 .folder = record.folder,
                                 .interpreter = model.interpreter().empty() ? options_.python : model.interpreter(),
                                 .data_roots = options_.data_roots,
                                 .memory_bytes = options_.memory_bytes};
  if (setting.isolation != user_code::Isolation::kNone && setting.uid == 0) {
    // The folder has to exist before an id can be taken for it, and belongs to nobody else until then.
    if (mkdir(setting.folder.c_str(), 0700) != 0 && errno != EEXIST) {
      return common::ErrnoError(absl::StrCat("make the folder ", setting.folder));
    }
    const absl::StatusOr<uid_t> uid =
        user_code::TakeUid(options_.uids, record.job_uid, setting.folder, options_.uid_places);
    if (!uid.ok()) return uid.status();
    setting.uid = record.uid = *uid;
    guard_.Clean(*uid, setting.folder, SharedFolders(setting.isolation));
  }
  if (absl::Status made = user_code::MakeCodeFolder(setting); !made.ok()) return made;
  setting.task_folder = TaskFolder(model, setting);
  if (setting.isolation != user_code::Isolation::kNone) {
    guard_.Watch(setting.uid, setting.folder, SharedFolders(setting.isolation));
  }
  return setting;
}

std::string JobCode::TaskFolder(const v1::JobSpec::Model& model, const user_code::CodeSetting& setting) const {
  if (model.bundle().empty()) return model.folder();
  // Other users cannot enter the node's folder, and must not read what is not their own. So each job gets a copy.
  if (setting.isolation != user_code::Isolation::kNone) return user_code::BundleOf(setting.folder);
  return common::NodeBundleFolder(folder_->dir(), model.bundle());
}

bool JobCode::MayRun() const { return options_.isolation != user_code::Isolation::kNone || options_.may_be_unisolated; }

bool JobCode::IsReady(const v1::DesiredTrainer& desired) {
  const std::string folder = FolderOf(desired.job_uid());
  if (guard_.IsBusy(folder)) return false;
  const auto known = entries_.find(desired.job_uid());
  if (known != entries_.end() && known->second.is_leaving) return false;
  // Prepare() says what is wrong.
  if (!MayRun() || guard_.HasFailed(folder)) return true;
  Entry& entry = entries_[desired.job_uid()];
  const absl::StatusOr<user_code::CodeSetting> setting = MakeFolders(entry, desired);
  if (!setting.ok()) return true;
  if (NeedsCopy(*setting, desired)) {
    guard_.Copy(*setting, common::NodeBundleFolder(folder_->dir(), desired.spec().model().bundle()));
  }
  return !guard_.IsBusy(folder);
}

bool JobCode::NeedsCopy(const user_code::CodeSetting& setting, const v1::DesiredTrainer& desired) {
  return !desired.spec().model().bundle().empty() && setting.isolation != user_code::Isolation::kNone &&
         access(setting.task_folder.c_str(), F_OK) != 0;
}

absl::StatusOr<std::vector<std::string>> JobCode::Prepare(const v1::DesiredTrainer& desired) {
  if (!MayRun()) {
    return absl::PermissionDeniedError(absl::StrCat(
        "job ", desired.job_name(),
        " brings code of its own, which this node cannot isolate: run rekindle-worker as root, or start it with "
        "--allow-code unisolated if you trust all who submit jobs"));
  }
  Entry& entry = entries_[desired.job_uid()];
  absl::StatusOr<user_code::CodeSetting> setting = MakeFolders(entry, desired);
  if (!setting.ok()) return setting.status();
  if (NeedsCopy(*setting, desired)) {
    absl::Status why = guard_.TakeFailure(entry.record.folder);
    return why.ok() ? absl::UnavailableError("the job's bundle is not in its folder yet: it is tried again") : why;
  }
  entry.setting = *std::move(setting);
  entry.desired = desired;
  const double now = common::SteadySeconds();
  // The next agent must know the user id before anything runs under it.
  if (absl::Status written = Write(entry); !written.ok()) return written;
  if (entry.record.isolation != user_code::Isolation::kNone) Watch();
  if (!entry.warm && now >= entry.start_again_at) {
    StartWarm(entry, now);
    Write(entry).IgnoreError();
  }
  return std::vector<std::string>{"--isolation",   user_code::NameOf(entry.record.isolation),
                                  "--code-uid",    absl::StrCat(entry.record.uid),
                                  "--code-folder", entry.record.folder,
                                  "--task-folder", entry.setting->task_folder,
                                  "--warm",        SocketOf(desired.job_uid())};
}

absl::Status JobCode::Write(const Entry& entry) const {
  absl::Status written = ReplaceFile(RecordOf(entry.record.job_uid), ToJson(entry.record));
  if (!written.ok()) {
    log::Warning("the code of a job would not be found by the next agent", {{"why", std::string(written.message())}});
  }
  return written;
}

absl::Status JobCode::CheckNamedFolder(const v1::JobSpec::Model& model) const {
  if (!model.bundle().empty() || model.folder().empty()) return absl::OkStatus();
  const auto found = data::DataRoots(options_.data_roots, {}).Find(model.folder());
  return found.ok() && found->own ? data::DataRoots::RefuseOwn(model.folder()) : found.status();
}

void JobCode::Watch() {
  if (watch_ && watch_->Exited()) {
    (void)watch_->Reap();
    watch_.reset();
  }
  if (watch_ || options_.program.empty()) return;
  absl::StatusOr<common::Process> started = StartCodeWatch(options_.program, folder_->dir());
  if (started.ok()) {
    watch_ = *std::move(started);
  } else {
    log::Warning("the code of jobs may outlive this agent", {{"why", std::string(started.status().message())}});
  }
}

void JobCode::StartWarm(Entry& entry, double now) {
  entry.start_again_at = now + kFirstPause * std::exp2(std::min(entry.deaths, kMostDoublings));
  entry.start_again_at = std::min(entry.start_again_at, now + kLongestPause);
  const v1::JobSpec& spec = entry.desired.spec();
  const std::vector<std::string> own = common::OwnEnvironment();
  // The trainer finds the same as this function, and says it to the job's user.
  if (entry.setting->interpreter.empty() || !CheckNamedFolder(spec.model()).ok()) return;
  auto confinement = user_code::Confine(*entry.setting, own);
  const auto values = user_code::ReadValues(absl::StrCat(folder_->dir(), "/", user_code::kValuesFile),
                                            {spec.model().env_from().begin(), spec.model().env_from().end()});
  if (!confinement.ok() || !values.ok()) return;
  absl::StatusOr<WarmProcess> warm =
      WarmProcess::Start({.interpreter = entry.setting->interpreter,
                          .task = spec.model().python(),
                          .folder = entry.setting->task_folder,
                          .seed = static_cast<uint64_t>(spec.seed()),
                          .socket = SocketOf(entry.record.job_uid),
                          .environment = user_code::EnvironmentOf(*entry.setting, own, PinnedFor(spec), *values),
                          .confinement = *std::move(confinement)});
  if (!warm.ok()) {
    log::Warning("the model processes of a job start cold",
                 {{"job", entry.desired.job_name()}, {"why", std::string(warm.status().message())}});
    return;
  }
  entry.warm = *std::move(warm);
  entry.record.process = entry.warm->identity();
  entry.record.boot_id = common::BootId();
}

void JobCode::NoteDeath(Entry& entry, double now) {
  log::Warning("the warm process of a job has ended", {{"job", entry.record.job_uid}, {"how", entry.warm->EndText()}});
  entry.warm.reset();
  entry.record.process = {};
  entry.deaths += 1;
  entry.start_again_at =
      std::min(now + kFirstPause * std::exp2(std::min(entry.deaths, kMostDoublings)), now + kLongestPause);
  Write(entry).IgnoreError();
}

std::optional<double> JobCode::Leave(Entry& entry, double now) {
  // Nothing was made for a job whose folder is another one's.
  if (entry.record.folder.empty()) return std::nullopt;
  const bool has_uid = entry.record.isolation != user_code::Isolation::kNone && entry.record.uid != 0;
  if (has_uid) {
    // Nothing of the job runs for a moment longer, whatever it has forked.
    const absl::Status killed = user_code::KillAll(entry.record.uid);
    if (!killed.ok()) {
      // What has the id must be known of as long as it runs.
      log::Error("cannot end the code of a job", {{"why", std::string(killed.message())}});
      return now + kKillAgainPause;
    }
  }
  if (entry.warm) {
    const std::optional<double> again = entry.warm->End(now);
    if (again) return again;
    entry.warm.reset();
  }
  RemoveFile(SocketOf(entry.record.job_uid));
  RemoveFile(RecordOf(entry.record.job_uid));
  guard_.Remove(entry.record.uid, entry.record.folder);
  return std::nullopt;
}

double JobCode::Keep(const std::set<std::string>& jobs, double now) {
  double wake_at = std::numeric_limits<double>::infinity();
  for (auto at = entries_.begin(); at != entries_.end();) {
    Entry& entry = at->second;
    if (entry.is_leaving || !jobs.contains(at->first)) {
      const std::optional<double> again = Leave(entry, now);
      if (!again) {
        at = entries_.erase(at);
        continue;
      }
      entry.is_leaving = true;
      wake_at = std::min(wake_at, *again);
    } else {
      if (entry.warm && entry.warm->HasEnded()) NoteDeath(entry, now);
      // An entry that was adopted does not know what to start before the next trainer starts.
      if (!entry.warm && entry.setting && now >= entry.start_again_at) {
        StartWarm(entry, now);
        Write(entry).IgnoreError();
      }
      if (!entry.warm && entry.setting) wake_at = std::min(wake_at, entry.start_again_at);
    }
    ++at;
  }
  return wake_at;
}

std::vector<int> JobCode::WatchFds() const {
  std::vector<int> fds;
  for (const auto& [job_uid, entry] : entries_) {
    if (entry.warm) fds.push_back(entry.warm->fd());
  }
  return fds;
}

std::optional<user_code::CodeSetting> JobCode::SettingOf(const std::string& job_uid) const {
  const auto found = entries_.find(job_uid);
  return found == entries_.end() ? std::nullopt : found->second.setting;
}

}  // namespace rekindle::agent
