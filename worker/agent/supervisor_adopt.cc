// How the supervisor recognises trainers that it did not start itself, or that speak to it.
#include <openssl/crypto.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "worker/agent/exits.h"
#include "worker/agent/small_file.h"
#include "worker/agent/supervisor.h"

namespace rekindle::agent {
namespace {

constexpr size_t kMaxRecordBytes = 64 << 10;

std::string ReadSecret(const NodeFolder& folder, const std::string& job_uid, int slot) {
  const absl::StatusOr<v1::DesiredTrainer> desired = ReadJobFile(folder, job_uid, slot);
  return desired.ok() ? desired->job_secret() : "";
}

bool SameSecret(const std::string& a, const std::string& b) {
  return !a.empty() && a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace

void Supervisor::Adopt() {
  std::lock_guard lock(mutex_);
  for (const std::string& name : ListFolder(folder_->EndedFolder())) {
    const std::string path = absl::StrCat(folder_->EndedFolder(), "/", name);
    const absl::StatusOr<std::string> text = ReadSmallFile(path, kMaxRecordBytes);
    absl::StatusOr<TrainerRecord> record = text.ok() ? FromJson(*text) : text.status();
    if (record.ok() && ended_.size() < kMaxEnded) {
      logs_->Start(record->trainer, record->job_uid, record->log);
      logs_->End(record->trainer);
      ended_.push_back(*std::move(record));
    } else {
      RemoveFile(path);
    }
  }
  for (const std::string& name : ListFolder(folder_->RecordFolder())) {
    const std::string path = absl::StrCat(folder_->RecordFolder(), "/", name);
    const absl::StatusOr<std::string> text = ReadSmallFile(path, kMaxRecordBytes);
    const absl::StatusOr<TrainerRecord> record = text.ok() ? FromJson(*text) : text.status();
    if (record.ok() && path == folder_->RecordFile(record->slot)) {
      AdoptRecord(*record);
    } else {
      log::Warning("ignoring a damaged trainer record", {{"file", path}});
      RemoveFile(path);
    }
  }
  std::vector<common::ProcessIdentity> watched;
  for (const auto& [slot, trainer] : trainers_) watched.push_back(trainer.record.process);
  ClearExits(folder_->dir(), watched);
  std::set<std::string> locks;
  for (const auto& [slot, trainer] : trainers_) {
    locks.insert(common::LifeLockPath(folder_->dir(), trainer.record.trainer));
  }
  for (const std::string& name : ListFolder(folder_->AliveFolder())) {
    const std::string path = absl::StrCat(folder_->AliveFolder(), "/", name);
    if (!locks.contains(path)) RemoveFile(path);
  }
  metrics_->SetTrainers(static_cast<int>(trainers_.size()));
}

void Supervisor::AdoptRecord(const TrainerRecord& record) {
  logs_->Start(record.trainer, record.job_uid, record.log);
  const bool this_boot = record.boot_id == common::BootId();
  absl::StatusOr<common::Process> process =
      this_boot ? common::Process::Open(record.process) : absl::NotFoundError("the machine was restarted");
  if (!process.ok()) {
    const std::optional<common::ExitStatus> status =
        this_boot ? TakeExit(folder_->dir(), record.process) : std::nullopt;
    RemoveFile(folder_->RecordFile(record.slot));
    logs_->End(record.trainer);
    TrainerRecord ended = record;
    ended.exit_seen = status.has_value();
    AddEnded(std::move(ended), status.value_or(common::ExitStatus{kUnknownExit}),
             status ? status->ToString() : "ended while no agent watched; exit status unknown");
    return;
  }
  log::Info("adopted a running trainer",
            {{"trainer", record.trainer}, {"job", record.job_name}, {"pid", static_cast<int>(record.process.pid)}});
  node_.slots[record.slot].running = RunningTrainer{.job_uid = record.job_uid, .started_at = record.started_at};
  absl::StatusOr<common::LifeLock> life = common::LifeLock::Open(common::LifeLockPath(folder_->dir(), record.trainer));
  std::unique_ptr<DeathWatch> death;
  if (life.ok()) death = std::make_unique<DeathWatch>(*std::move(life), record.trainer, waker_);
  Trainer trainer{.record = record,
                  .process = *std::move(process),
                  .job_secret = ReadSecret(*folder_, record.job_uid, record.slot),
                  .adopted = true,
                  .death = std::move(death)};
  // An earlier agent has told of its end, and its memory was not free yet.
  const auto told =
      std::find_if(ended_.begin(), ended_.end(), [&](const auto& ended) { return ended.trainer == record.trainer; });
  if (told != ended_.end()) {
    logs_->End(record.trainer);
    trainer.told = common::ExitStatus{told->exit_code};
    node_.slots[record.slot].running->ending = true;
  }
  trainers_.emplace(record.slot, std::move(trainer));
}

v1::AttachReply Supervisor::Attach(const v1::AttachRequest& request) {
  std::lock_guard lock(mutex_);
  v1::AttachReply reply;
  const auto refuse = [&](const std::string& reason) {
    log::Warning("refused a trainer", {{"pid", request.pid()}, {"why", reason}});
    reply.set_stop(true);
    reply.set_reason(reason);
    return reply;
  };
  const auto found = std::find_if(trainers_.begin(), trainers_.end(),
                                  [&](const auto& entry) { return entry.second.record.trainer == request.trainer(); });
  if (found == trainers_.end()) return refuse("no trainer of that name runs on this node");
  Trainer& trainer = found->second;
  const common::ProcessIdentity claimed = {.pid = request.pid(),
                                           .start_time_ticks = static_cast<uint64_t>(request.start_time_ticks())};
  if (claimed != trainer.record.process) return refuse("another process is that trainer");
  if (request.job_uid() != trainer.record.job_uid || !SameSecret(request.job_secret(), trainer.job_secret)) {
    return refuse("the job or its secret does not match");
  }
  if (!trainer.attached) log::Info("trainer attached", {{"trainer", trainer.record.trainer}});
  trainer.attached = true;
  trainer.at_rest = request.at_rest();
  trainer.keeps_final_state = request.keeps_final_state();
  if (request.has_metrics()) {
    metrics_->Advance(trainer.record.job_name, trainer.metrics, request.metrics());
    trainer.metrics = request.metrics();
  }
  reply.set_stop(!trainer.stop_reason.empty());
  reply.set_reason(trainer.stop_reason);
  return reply;
}

}  // namespace rekindle::agent
