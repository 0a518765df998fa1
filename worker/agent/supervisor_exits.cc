// How the supervisor notices that trainers end, and how they ended. What ends is reported as soon as that is certain;
// its slot is free only when its memory is, too: a new trainer may not fit beside what the kernel still frees.
#include <algorithm>
#include <csignal>

#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "worker/agent/exits.h"
#include "worker/agent/small_file.h"
#include "worker/agent/supervisor.h"

namespace rekindle::agent {
namespace {

constexpr double kExitRecordSeconds = 0.25;  // Init writes it within milliseconds, if there is an init.
constexpr double kEndingSeconds = 0.25;      // The kernel knows how a process ends when it releases what that one held.
constexpr double kExitPollSeconds = 0.002;

}  // namespace

void Supervisor::CollectExits(double now) {
  wake_for_exit_ = 0;
  std::vector<std::pair<int, common::ExitStatus>> ends;
  std::vector<int> gone;
  for (auto& [slot, trainer] : trainers_) {
    const bool exited = trainer.process.Exited();
    const std::optional<common::ExitStatus> status = exited ? ExitOf(trainer, now) : EarlyExitOf(trainer, now);
    if (status && !trainer.told) ends.emplace_back(slot, *status);
    if (status && exited) gone.push_back(slot);
    if (!status && (exited || trainer.hinted_since)) wake_for_exit_ = now + kExitPollSeconds;
  }
  // The kernel counts whom it kills for want of memory, and says no names.
  const std::optional<int64_t> kills = common::OutOfMemoryKills();
  for (const auto& [slot, status] : ends) {
    Trainer& trainer = trainers_.at(slot);
    const bool was_killed = status.code == -SIGKILL && trainer.stop_reason.empty() && kills > memory_kills_;
    trainer.record.out_of_memory = was_killed || status.code == common::kExitOutOfMemory;
    Tell(slot, status, now);
  }
  memory_kills_ = kills;
  for (const int slot : gone) FreeSlot(slot);
}

std::optional<common::ExitStatus> Supervisor::ExitOf(Trainer& trainer, double now) {
  const absl::StatusOr<common::ExitStatus> reaped = trainer.process.Reap();
  if (reaped.ok()) return *reaped;
  // Not our child: started by an earlier agent, so init takes its exit status.
  std::optional<common::ExitStatus> recorded = TakeExit(folder_->dir(), trainer.record.process);
  if (recorded) return recorded;
  if (!trainer.exit_unknown_since) trainer.exit_unknown_since = now;
  if (now - *trainer.exit_unknown_since < kExitRecordSeconds) return std::nullopt;
  return common::ExitStatus{kUnknownExit};
}

std::optional<common::ExitStatus> Supervisor::EarlyExitOf(Trainer& trainer, double now) {
  if (trainer.told || trainer.death == nullptr || !trainer.death->hinted()) return trainer.told;
  if (!trainer.hinted_since) trainer.hinted_since = now;
  const std::optional<common::ExitStatus> ending = trainer.process.Ending();
  if (ending) {
    // Sent to one that ends it changes nothing, neither its exit code. It makes sure that no instruction of it runs any
    // more, whatever led the kernel to say so.
    const absl::Status killed = trainer.process.Signal(SIGKILL);
    if (killed.ok() || absl::IsNotFound(killed)) return ending;
  }
  if (now - *trainer.hinted_since >= kEndingSeconds) {
    log::Info("a trainer let go of its life lock and is not known to fail: its end is awaited",
              {{"trainer", trainer.record.trainer}});
    trainer.hinted_since.reset();
    trainer.death.reset();
  }
  return std::nullopt;
}

void Supervisor::Tell(int slot, common::ExitStatus status, double now) {
  Trainer& trainer = trainers_.at(slot);
  std::string reason = status.ToString();
  if (trainer.record.out_of_memory) absl::StrAppend(&reason, ", for want of memory");
  if (!trainer.stop_reason.empty()) absl::StrAppend(&reason, ", told to stop: ", trainer.stop_reason);
  log::Info("trainer ended", {{"trainer", trainer.record.trainer}, {"job", trainer.record.job_name}, {"why", reason}});
  Slot& state = node_.slots[slot];
  state.deaths = AfterExit(state.deaths, *state.running, status.code, options_.policy, now);
  state.running->ending = true;
  if (state.wanted != trainer.record.job_uid) folder_->RemoveJobFile(trainer.record.job_uid, slot);
  last_trainer_[slot] = trainer.record.trainer;
  logs_->End(trainer.record.trainer);
  trainer.record.exit_seen = true;
  trainer.told = status;
  AddEnded(trainer.record, status, reason);
}

void Supervisor::FreeSlot(int slot) {
  const auto found = trainers_.find(slot);
  const TrainerRecord& record = found->second.record;
  node_.slots[slot].running.reset();
  RemoveFile(folder_->RecordFile(slot));
  RemoveFile(common::LifeLockPath(folder_->dir(), record.trainer));
  trainers_.erase(found);
}

void Supervisor::AddEnded(TrainerRecord record, common::ExitStatus status, const std::string& reason) {
  record.exit_code = status.code;
  record.exit_reason = reason;
  const absl::Status saved = ReplaceFile(EndedFile(record.trainer), ToJson(record));
  if (!saved.ok()) log::Warning("cannot write down an exit", {{"error", std::string(saved.message())}});
  ended_.push_back(std::move(record));
  if (ended_.size() <= kMaxEnded) return;
  RemoveFile(EndedFile(ended_.front().trainer));
  ended_.pop_front();
}

std::string Supervisor::EndedFile(const std::string& trainer) const {
  std::string name = trainer;
  std::replace(name.begin(), name.end(), '/', '_');
  return absl::StrCat(folder_->EndedFolder(), "/", name, ".json");
}

void Supervisor::Acknowledge(const std::string& trainer) {
  for (auto& [slot, last] : last_trainer_) {
    if (last == trainer) node_.slots[slot].deaths.awaits_acknowledgement = false;
  }
  const auto ended =
      std::find_if(ended_.begin(), ended_.end(), [&](const TrainerRecord& r) { return r.trainer == trainer; });
  if (ended == ended_.end()) return;
  RemoveFile(EndedFile(trainer));
  ended_.erase(ended);
}

}  // namespace rekindle::agent
