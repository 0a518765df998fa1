#include "worker/agent/supervisor.h"

#include <algorithm>
#include <csignal>

#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "worker/agent/exits.h"
#include "worker/agent/small_file.h"

namespace rekindle::agent {
namespace {

constexpr size_t kMaxEndedLogs = 16;
constexpr double kExitRecordSeconds = 0.25;  // Init writes it within milliseconds, if there is an init.
constexpr double kExitPollSeconds = 0.002;

v1::TrainerProcess ToProto(const TrainerRecord& record) {
  v1::TrainerProcess process;
  process.set_trainer(record.trainer);
  process.set_job_uid(record.job_uid);
  process.set_slot(record.slot);
  return process;
}

}  // namespace

Supervisor::Supervisor(SupervisorOptions options, const NodeFolder* folder, AgentMetrics* metrics)
    : options_(std::move(options)), folder_(folder), metrics_(metrics) {}

void Supervisor::Apply(const v1::NodeDirective& directive) {
  std::lock_guard lock(mutex_);
  for (const std::string& trainer : directive.acknowledged_exits()) Acknowledge(trainer);
  desired_.clear();
  for (auto& [number, slot] : node_.slots) slot.wanted.reset();
  for (const v1::DesiredTrainer& desired : directive.trainers()) {
    const absl::Status fit = CheckDesired(desired, options_.slots);
    if (!fit.ok()) {
      log::Error("cannot run a trainer that the coordinator wants here", {{"error", std::string(fit.message())}});
      continue;
    }
    desired_[desired.slot()] = desired;
    node_.slots[desired.slot()].wanted = desired.job_uid();
  }
  node_.left_alone = {directive.leave_alone().begin(), directive.leave_alone().end()};
  to_read_ = {directive.read_stored().begin(), directive.read_stored().end()};
  node_.desired_known = true;
  ReadLeftAlone();
}

void Supervisor::ReadLeftAlone() {
  left_alone_.clear();
  for (const auto& [slot, trainer] : trainers_) {
    const std::string& uid = trainer.record.job_uid;
    if (node_.left_alone.count(uid) == 0 || left_alone_.count(uid) > 0) continue;
    absl::StatusOr<v1::DesiredTrainer> wanted = ReadJobFile(*folder_, uid, slot);
    if (wanted.ok()) {
      left_alone_[uid] = *std::move(wanted);
    } else {
      log::Warning("what was wanted of a trainer cannot be told",
                   {{"job_uid", uid}, {"error", std::string(wanted.status().message())}});
    }
  }
}

void Supervisor::SetDraining(bool draining) {
  std::lock_guard lock(mutex_);
  node_.draining = draining;
}

void Supervisor::StopAll() {
  std::lock_guard lock(mutex_);
  node_.stop_all = true;
}

double Supervisor::Act(double now) {
  std::lock_guard lock(mutex_);
  CollectExits(now);
  Plan plan = Reconcile(node_, options_.policy, now);
  for (const Action& action : plan.actions) {
    if (action.kind == Action::kStart) {
      Start(action.slot, now);
    } else {
      Stop(action, now);
    }
  }
  // What was just done makes new times to wake at.
  if (!plan.actions.empty()) plan.wake_at = Reconcile(node_, options_.policy, now).wake_at;
  metrics_->SetTrainers(static_cast<int>(trainers_.size()));
  return wake_for_exit_ > 0 ? std::min(plan.wake_at, wake_for_exit_) : plan.wake_at;
}

void Supervisor::CollectExits(double now) {
  wake_for_exit_ = 0;
  std::vector<std::pair<int, common::ExitStatus>> exits;
  for (auto& [slot, trainer] : trainers_) {
    if (!trainer.process.Exited()) continue;
    const std::optional<common::ExitStatus> status = ExitOf(trainer, now);
    if (status) {
      exits.emplace_back(slot, *status);
    } else {
      wake_for_exit_ = now + kExitPollSeconds;
    }
  }
  // The kernel counts whom it kills for want of memory, and says no names.
  const std::optional<int64_t> kills = common::OutOfMemoryKills();
  for (const auto& [slot, status] : exits) {
    Trainer& trainer = trainers_.at(slot);
    const bool was_killed = status.code == -SIGKILL && trainer.stop_reason.empty() && kills > memory_kills_;
    trainer.record.out_of_memory = was_killed || status.code == common::kExitOutOfMemory;
    NoteExit(slot, status, now);
  }
  memory_kills_ = kills;
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

void Supervisor::NoteExit(int slot, common::ExitStatus status, double now) {
  auto found = trainers_.find(slot);
  Trainer& trainer = found->second;
  std::string reason = status.ToString();
  if (trainer.record.out_of_memory) absl::StrAppend(&reason, ", for want of memory");
  if (!trainer.stop_reason.empty()) absl::StrAppend(&reason, ", told to stop: ", trainer.stop_reason);
  log::Info("trainer ended", {{"trainer", trainer.record.trainer}, {"job", trainer.record.job_name}, {"why", reason}});
  Slot& state = node_.slots[slot];
  state.deaths = AfterExit(state.deaths, *state.running, status.code, options_.policy, now);
  const std::string job_uid = trainer.record.job_uid;
  state.running.reset();
  if (state.wanted != job_uid) folder_->RemoveJobFile(job_uid, slot);
  last_trainer_[slot] = trainer.record.trainer;
  ended_logs_.push_back({job_uid, trainer.record.trainer, std::move(trainer.log)});
  if (ended_logs_.size() > kMaxEndedLogs) ended_logs_.pop_front();
  trainer.record.exit_seen = true;
  AddEnded(std::move(trainer.record), status, reason);
  RemoveFile(folder_->RecordFile(slot));
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

void Supervisor::Start(int slot, double now) {
  const v1::DesiredTrainer& desired = desired_.at(slot);
  Slot& state = node_.slots[slot];
  const bool again = state.deaths.job_uid == desired.job_uid();
  absl::StatusOr<Launched> launched = LaunchTrainer(options_.launch, *folder_, desired, now);
  if (!launched.ok()) {
    log::Error("cannot start a trainer",
               {{"job", desired.job_name()}, {"error", std::string(launched.status().message())}});
    const RunningTrainer never = {.job_uid = desired.job_uid(), .started_at = now};
    state.deaths = AfterExit(state.deaths, never, kUnknownExit, options_.policy, now);
    return;
  }
  TrainerRecord& record = launched->record;
  log::Info(again ? "trainer started again" : "trainer started",
            {{"trainer", record.trainer}, {"job", record.job_name}, {"pid", static_cast<int>(record.process.pid)}});
  if (again) metrics_->CountRestart();
  state.running = RunningTrainer{.job_uid = record.job_uid, .started_at = now};
  LogTail log(record.log, record.log_offset, options_.logs);
  trainers_.emplace(slot, Trainer{.record = std::move(record),
                                  .process = std::move(launched->process),
                                  .log = std::move(log),
                                  .job_secret = desired.job_secret()});
}

void Supervisor::Stop(const Action& action, double now) {
  Trainer& trainer = trainers_.at(action.slot);
  RunningTrainer& running = *node_.slots[action.slot].running;
  const bool kill = action.kind == Action::kKill;
  log::Info(kill ? "killing a trainer" : "stopping a trainer",
            {{"trainer", trainer.record.trainer}, {"why", action.reason}});
  const absl::Status sent = trainer.process.Signal(kill ? SIGKILL : SIGTERM);
  if (!sent.ok() && !absl::IsNotFound(sent)) {
    log::Warning("cannot signal a trainer", {{"error", std::string(sent.message())}});
  }
  if (kill) {
    running.killed = true;
  } else {
    running.terminated_at = now;
    trainer.stop_reason = action.reason;
  }
}

std::vector<int> Supervisor::WatchFds() const {
  std::lock_guard lock(mutex_);
  std::vector<int> fds;
  for (const auto& [slot, trainer] : trainers_) {
    // An ended one stays readable: it is asked again by time, not by its descriptor.
    if (!trainer.exit_unknown_since) fds.push_back(trainer.process.fd());
  }
  return fds;
}

bool Supervisor::IsBusy() const {
  std::lock_guard lock(mutex_);
  return std::any_of(trainers_.begin(), trainers_.end(), [](const auto& entry) { return !entry.second.at_rest; });
}

bool Supervisor::KeepsFinalState() const {
  std::lock_guard lock(mutex_);
  return std::any_of(trainers_.begin(), trainers_.end(),
                     [](const auto& entry) { return entry.second.keeps_final_state; });
}

bool Supervisor::LeavesAlone() const {
  std::lock_guard lock(mutex_);
  return std::any_of(trainers_.begin(), trainers_.end(),
                     [&](const auto& entry) { return node_.left_alone.count(entry.second.record.job_uid) > 0; });
}

std::map<std::string, std::string> Supervisor::StoresToRead() const {
  const std::lock_guard lock(mutex_);
  std::map<std::string, std::string> stores;
  for (const auto& [uid, wanted] : left_alone_) {
    const std::string& store = wanted.spec().checkpoint().store();
    if (to_read_.count(uid) > 0 && !store.empty()) stores[uid] = store;
  }
  return stores;
}

int Supervisor::running() const {
  std::lock_guard lock(mutex_);
  return static_cast<int>(trainers_.size());
}

void Supervisor::Report(v1::NodeReport* report) const {
  std::lock_guard lock(mutex_);
  for (const auto& [slot, trainer] : trainers_) {
    v1::TrainerProcess process = ToProto(trainer.record);
    process.set_running(true);
    process.set_adopted(trainer.adopted);
    *report->add_trainers() = std::move(process);
  }
  for (const auto& [uid, wanted] : left_alone_) *report->add_left_alone() = wanted;
  for (const TrainerRecord& record : ended_) {
    v1::TrainerProcess process = ToProto(record);
    process.set_exit_code(record.exit_code);
    process.set_exit_reason(record.exit_reason);
    process.set_out_of_memory(record.out_of_memory);
    process.set_exit_seen(record.exit_seen);
    *report->add_trainers() = std::move(process);
  }
}

void Supervisor::CollectLogs(v1::NodeReport* report) {
  std::lock_guard lock(mutex_);
  LogBudget budget;
  const auto add = [&](const std::string& job_uid, const std::string& trainer, LogTail& log, bool final) {
    std::vector<std::string> lines = log.Read(&budget, final);
    if (lines.empty()) return;
    v1::LogChunk* chunk = report->add_logs();
    chunk->set_job_uid(job_uid);
    chunk->set_trainer(trainer);
    for (std::string& line : lines) chunk->add_lines(std::move(line));
  };
  for (EndedLog& ended : ended_logs_) add(ended.job_uid, ended.trainer, ended.log, /*final=*/true);
  std::erase_if(ended_logs_, [](const EndedLog& ended) { return ended.log.AtEnd(); });
  for (auto& [slot, trainer] : trainers_) {
    add(trainer.record.job_uid, trainer.record.trainer, trainer.log, /*final=*/false);
    trainer.log.RotateIfLarge();
    if (trainer.record.log_offset == trainer.log.offset()) continue;
    trainer.record.log_offset = trainer.log.offset();
    SaveRecord(trainer);
  }
}

void Supervisor::SaveRecord(const Trainer& trainer) {
  const absl::Status saved = ReplaceFile(folder_->RecordFile(trainer.record.slot), ToJson(trainer.record));
  if (!saved.ok()) log::Warning("cannot write a trainer record", {{"error", std::string(saved.message())}});
}

}  // namespace rekindle::agent
