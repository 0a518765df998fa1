#include "worker/agent/trainers/supervisor.h"

#include <algorithm>
#include <csignal>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/agreed/exit_codes.h"
#include "common/log/log.h"
#include "common/process/last_words.h"
#include "common/time/clock.h"
#include "worker/agent/folder/exits.h"
#include "worker/agent/folder/small_file.h"

namespace rekindle::agent {
namespace {

constexpr double kExitPollSeconds = 0.002;

}  // namespace

Supervisor::Supervisor(SupervisorOptions options, const NodeFolder* folder, AgentMetrics* metrics, LogShipper* logs,
                       const common::Waker* waker)
    : options_(std::move(options)),
      folder_(folder),
      metrics_(metrics),
      logs_(logs),
      waker_(waker),
      gpus_(options_.gpus, options_.gpu_share, options_.slots, options_.fake_gpus),
      code_(options_.code, folder, waker),
      health_(options_.health),
      left_alone_(folder),
      ended_(folder) {}

void Supervisor::Adopt() {
  const common::MutexLock lock(mutex_);
  const double now = common::SteadySeconds();
  for (const auto& [slot, problem] : gpus_.Problems()) health_.DriverSaid(slot, problem, now);
  ended_.Load();
  for (const TrainerRecord& record : ended_.records()) {
    logs_->Start(record.trainer, record.job_uid, record.log);
    logs_->End(record.trainer);
  }
  for (const std::string& name : ListFolder(folder_->RecordFolder())) {
    const std::string path = absl::StrCat(folder_->RecordFolder(), "/", name);
    const absl::StatusOr<TrainerRecord> record = ReadTrainerRecord(path);
    if (record.ok() && path == folder_->RecordFile(record->slot)) {
      AdoptRecord(*record, now);
    } else {
      log::Warning("ignoring a damaged trainer record", {{"file", path}});
      RemoveFile(path);
    }
  }
  ClearLeftovers();
  code_.Adopt();
  UseHealth();
  metrics_->SetTrainers(static_cast<int>(trainers_.size()));
}

void Supervisor::AdoptRecord(const TrainerRecord& record, double now) {
  logs_->Start(record.trainer, record.job_uid, record.log);
  absl::StatusOr<WatchedTrainer> trainer = WatchedTrainer::Adopt(record, *folder_, waker_);
  if (!trainer.ok()) {
    const bool this_boot = record.boot_id == common::BootId();
    const std::optional<common::ExitStatus> status =
        this_boot ? TakeExit(folder_->dir(), record.process) : std::nullopt;
    RemoveFile(folder_->RecordFile(record.slot));
    logs_->End(record.trainer);
    TrainerRecord ended = record;
    ended.exit_seen = status.has_value();
    ended_.Add(std::move(ended), status.value_or(common::ExitStatus{kUnknownExit}),
               status ? NoteEnd(record, *status, now) : "ended while no agent watched; exit status unknown");
    return;
  }
  log::Info("adopted a running trainer",
            {{"trainer", record.trainer}, {"job", record.job_name}, {"pid", static_cast<int>(record.process.pid)}});
  node_.slots[record.slot].running = RunningTrainer{.job_uid = record.job_uid, .started_at = record.started_at};
  // An earlier agent may already have reported how this trainer ended, while the kernel was still freeing the trainer's
  // memory. The end is not reported again.
  if (const TrainerRecord* told = ended_.Find(record.trainer); told != nullptr) {
    logs_->End(record.trainer);
    trainer->SetTold(common::ExitStatus{told->exit_code});
    node_.slots[record.slot].running->ending = true;
    node_.slots[record.slot].running->killed_at = now;
  }
  trainers_.emplace(record.slot, *std::move(trainer));
}

void Supervisor::ClearLeftovers() {
  std::vector<common::ProcessIdentity> watched;
  std::set<std::string> locks, words;
  for (const auto& [slot, trainer] : trainers_) {
    watched.push_back(trainer.record().process);
    locks.insert(common::LifeLockPath(folder_->dir(), trainer.record().trainer));
    words.insert(common::LastWordsPath(folder_->dir(), trainer.record().trainer));
  }
  ClearExits(folder_->dir(), watched);
  for (const std::string& name : ListFolder(folder_->AliveFolder())) {
    const std::string path = absl::StrCat(folder_->AliveFolder(), "/", name);
    if (!locks.contains(path)) RemoveFile(path);
  }
  for (const std::string& name : ListFolder(folder_->LastWordsFolder())) {
    const std::string path = absl::StrCat(folder_->LastWordsFolder(), "/", name);
    if (!words.contains(path)) RemoveFile(path);
  }
}

void Supervisor::Apply(const v1::NodeDirective& directive) {
  const common::MutexLock lock(mutex_);
  for (const std::string& trainer : directive.acknowledged_exits()) Acknowledge(trainer);
  desired_.clear();
  for (auto& [number, slot] : node_.slots) slot.wanted.reset();
  for (const v1::DesiredTrainer& desired : directive.trainers()) {
    const absl::Status fit = CheckDesired(desired, options_.slots, options_.launch.allow_code);
    if (!fit.ok()) {
      log::Error("cannot run a trainer that the coordinator wants here", {{"error", std::string(fit.message())}});
      continue;
    }
    desired_[desired.slot()] = desired;
    node_.slots[desired.slot()].wanted = desired.job_uid();
  }
  node_.left_alone = {directive.leave_alone().begin(), directive.leave_alone().end()};
  node_.desired_known = true;
  left_alone_.Take(directive, RunningJobs());
}

std::map<int, std::string> Supervisor::RunningJobs() const {
  std::map<int, std::string> jobs;
  for (const auto& [slot, trainer] : trainers_) jobs[slot] = trainer.record().job_uid;
  return jobs;
}

void Supervisor::Acknowledge(const std::string& trainer) {
  for (auto& [slot, last] : last_trainer_) {
    if (last == trainer) node_.slots[slot].deaths.awaits_acknowledgement = false;
  }
  ended_.Acknowledge(trainer);
}

void Supervisor::SetDraining(bool draining) {
  const common::MutexLock lock(mutex_);
  node_.draining = draining;
}

void Supervisor::StopAll() {
  const common::MutexLock lock(mutex_);
  node_.stop_all = true;
}

void Supervisor::TakeGpus(const absl::StatusOr<std::vector<gpus::Gpu>>& listed, double now) {
  const common::MutexLock lock(mutex_);
  if (!listed.ok()) {
    log::Warning("the driver of the GPUs does not answer", {{"why", std::string(listed.status().message())}});
    health_.DriverWasSilent(now);
    return;
  }
  gpus_.Take(*listed);
  for (const auto& [slot, problem] : gpus_.Problems()) health_.DriverSaid(slot, problem, now);
  UseHealth();
}

std::map<int, std::string> Supervisor::Faults() const {
  std::map<int, std::string> faults;
  for (const int slot : stuck_) {
    faults[slot] = absl::StrCat("its trainer was killed over ", options_.policy.stuck_seconds,
                                " s ago and has not ended: the kernel, or a driver in it, holds the process");
  }
  for (const auto& [slot, fault] : health_.faults()) faults[slot] = fault.words;
  return faults;
}

void Supervisor::UseHealth() {
  const std::map<int, std::string> faults = Faults();
  for (int number = 0; number < options_.slots; ++number) {
    Slot& slot = node_.slots[number];
    const auto fault = faults.find(number);
    const bool is_out = fault != faults.end();
    if (is_out && !slot.out_of_use) log::Warning("a slot is out of use", {{"slot", number}, {"why", fault->second}});
    if (!is_out && slot.out_of_use) log::Info("a slot is in use again", {{"slot", number}});
    slot.out_of_use = is_out;
  }
  metrics_->SetFailedSlots(static_cast<int>(faults.size()));
}

double Supervisor::ask_driver_at() const {
  const common::MutexLock lock(mutex_);
  return health_.ask_at();
}

std::string Supervisor::WhyNoSlot() const {
  const common::MutexLock lock(mutex_);
  const std::map<int, SlotFault>& faults = health_.faults();
  const bool all = static_cast<int>(faults.size()) == options_.slots && trainers_.empty() &&
                   std::all_of(faults.begin(), faults.end(), [](const auto& f) { return f.second.driver_says_so; });
  return all ? absl::StrCat("every slot is out of use: ", faults.begin()->second.words) : "";
}

double Supervisor::Act(double now) {
  const common::MutexLock lock(mutex_);
  CollectExits(now);
  if (std::set<int> stuck = StuckSlots(node_, options_.policy, now); stuck != stuck_) {
    stuck_ = std::move(stuck);
    UseHealth();
  }
  AwaitBundles();
  Plan plan = Reconcile(node_, options_.policy, now);
  for (const Action& action : plan.actions) {
    if (action.kind == Action::kStart) {
      Start(action.slot, now);
    } else {
      Stop(action, now);
    }
  }
  // Starting or stopping a trainer sets new deadlines, so the time at which Act() has to be called next is computed
  // again.
  if (!plan.actions.empty()) plan.wake_at = Reconcile(node_, options_.policy, now).wake_at;
  metrics_->SetTrainers(static_cast<int>(trainers_.size()));
  const double wake_at = std::min(plan.wake_at, KeepCode(now));
  return wake_for_exit_ > 0 ? std::min(wake_at, wake_for_exit_) : wake_at;
}

void Supervisor::Start(int slot, double now) {
  const v1::DesiredTrainer& desired = desired_.at(slot);
  Slot& state = node_.slots[slot];
  const bool again = state.deaths.job_uid == desired.job_uid();
  absl::StatusOr<Launched> launched = Launch(desired, slot, now);
  if (!launched.ok()) {
    log::Error("cannot start a trainer",
               {{"job", desired.job_name()}, {"error", std::string(launched.status().message())}});
    const RunningTrainer never = {.job_uid = desired.job_uid(), .started_at = now};
    state.deaths = AfterExit(state.deaths, never, kUnknownExit, options_.policy, now);
    return;
  }
  const TrainerRecord& record = launched->record;
  log::Info(again ? "trainer started again" : "trainer started",
            {{"trainer", record.trainer}, {"job", record.job_name}, {"pid", static_cast<int>(record.process.pid)}});
  if (again) metrics_->CountRestart();
  state.running = RunningTrainer{.job_uid = record.job_uid, .started_at = now};
  logs_->Start(record.trainer, record.job_uid, record.log);
  trainers_.emplace(slot, WatchedTrainer(*std::move(launched), desired.job_secret(), waker_));
}

void Supervisor::Stop(const Action& action, double now) {
  WatchedTrainer& trainer = trainers_.at(action.slot);
  RunningTrainer& running = *node_.slots[action.slot].running;
  const bool kill = action.kind == Action::kKill;
  log::Info(kill ? "killing a trainer" : "stopping a trainer",
            {{"trainer", trainer.record().trainer}, {"why", action.reason}});
  const absl::Status sent = trainer.Signal(kill ? SIGKILL : SIGTERM);
  if (!sent.ok() && !absl::IsNotFound(sent)) {
    log::Warning("cannot signal a trainer", {{"error", std::string(sent.message())}});
  }
  if (kill) {
    running.killed_at = now;
  } else {
    running.terminated_at = now;
    trainer.SetStopReason(action.reason);
  }
}

void Supervisor::CollectExits(double now) {
  wake_for_exit_ = 0;
  std::vector<std::pair<int, common::ExitStatus>> ends;
  std::vector<int> gone;
  for (auto& [slot, trainer] : trainers_) {
    const WatchedTrainer::End end = trainer.AskEnd(*folder_, now);
    if (end.status && !trainer.told()) ends.emplace_back(slot, *end.status);
    if (end.is_gone) gone.push_back(slot);
    if (end.is_near) wake_for_exit_ = now + kExitPollSeconds;
  }
  // The kernel only counts the processes that it kills when memory runs out. If the count has grown, a SIGKILL that the
  // agent did not send is taken as such a kill.
  const std::optional<int64_t> kills = common::OutOfMemoryKills();
  for (const auto& [slot, status] : ends) {
    const bool was_asked = !trainers_.at(slot).stop_reason().empty();
    const bool was_killed = status.code == -SIGKILL && !was_asked && kills > memory_kills_;
    Tell(slot, status, was_killed || status.code == common::kExitOutOfMemory, now);
  }
  memory_kills_ = kills;
  for (const int slot : gone) FreeSlot(slot);
}

void Supervisor::Tell(int slot, common::ExitStatus status, bool out_of_memory, double now) {
  WatchedTrainer& trainer = trainers_.at(slot);
  TrainerRecord record = trainer.record();
  record.out_of_memory = out_of_memory;
  record.exit_seen = true;
  std::string reason = NoteEnd(record, status, now);
  if (out_of_memory) absl::StrAppend(&reason, ", for want of memory");
  if (!trainer.stop_reason().empty()) absl::StrAppend(&reason, ", told to stop: ", trainer.stop_reason());
  log::Info("trainer ended", {{"trainer", record.trainer}, {"job", record.job_name}, {"why", reason}});
  Slot& state = node_.slots[slot];
  state.deaths = AfterExit(state.deaths, *state.running, status.code, options_.policy, now);
  state.running->ending = true;
  if (!state.running->killed_at) state.running->killed_at = now;
  if (state.wanted != record.job_uid) folder_->RemoveJobFile(record.job_uid, slot);
  last_trainer_[slot] = record.trainer;
  logs_->End(record.trainer);
  trainer.SetTold(status);
  ended_.Add(std::move(record), status, reason);
}

std::string Supervisor::NoteEnd(const TrainerRecord& record, common::ExitStatus status, double now) {
  const std::string words = common::TakeLastWords(common::LastWordsPath(folder_->dir(), record.trainer));
  const bool has_gpu = record.slot < options_.slots && gpus_.DeviceOf(record.slot).kind != SlotDevice().kind;
  if (has_gpu) health_.TrainerEnded(record.slot, status.code, words, now);
  UseHealth();
  return words.empty() ? status.ToString() : absl::StrCat(status.ToString(), ": ", words);
}

void Supervisor::FreeSlot(int slot) {
  const auto found = trainers_.find(slot);
  node_.slots[slot].running.reset();
  RemoveFile(folder_->RecordFile(slot));
  RemoveFile(common::LifeLockPath(folder_->dir(), found->second.record().trainer));
  trainers_.erase(found);
}

v1::AttachReply Supervisor::Attach(const v1::AttachRequest& request) {
  const common::MutexLock lock(mutex_);
  v1::AttachReply reply;
  const auto found = std::find_if(trainers_.begin(), trainers_.end(), [&](const auto& entry) {
    return entry.second.record().trainer == request.trainer();
  });
  const absl::Status taken = found == trainers_.end() ? absl::NotFoundError("no trainer of that name runs on this node")
                                                      : found->second.Attach(request, metrics_);
  if (!taken.ok()) {
    const std::string reason(taken.message());
    log::Warning("refused a trainer", {{"pid", request.pid()}, {"why", reason}});
    reply.set_stop(true);
    reply.set_reason(reason);
    return reply;
  }
  reply.set_stop(!found->second.stop_reason().empty());
  reply.set_reason(found->second.stop_reason());
  return reply;
}

std::vector<int> Supervisor::WatchFds() const {
  const common::MutexLock lock(mutex_);
  std::vector<int> fds;
  for (const auto& [slot, trainer] : trainers_) {
    if (const std::optional<int> fd = trainer.WatchFd()) fds.push_back(*fd);
  }
  const std::vector<int> code = code_.WatchFds();
  fds.insert(fds.end(), code.begin(), code.end());
  return fds;
}

bool Supervisor::AnyTrainer(const std::function<bool(const WatchedTrainer&)>& is) const {
  const common::MutexLock lock(mutex_);
  return std::any_of(trainers_.begin(), trainers_.end(), [&](const auto& entry) { return is(entry.second); });
}

bool Supervisor::IsBusy() const {
  return AnyTrainer([](const WatchedTrainer& trainer) { return trainer.is_busy(); });
}

bool Supervisor::KeepsFinalState() const {
  return AnyTrainer([](const WatchedTrainer& trainer) { return trainer.keeps_final_state(); });
}

bool Supervisor::LeavesAlone() const {
  return AnyTrainer([&](const WatchedTrainer& trainer) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return node_.left_alone.contains(trainer.record().job_uid);
  });
}

std::map<std::string, std::string> Supervisor::StoresToRead() const {
  const common::MutexLock lock(mutex_);
  return left_alone_.StoresToRead();
}

int Supervisor::running() const {
  const common::MutexLock lock(mutex_);
  return static_cast<int>(trainers_.size());
}

void Supervisor::Report(v1::NodeReport* report) const {
  const common::MutexLock lock(mutex_);
  for (const auto& [slot, trainer] : trainers_) {
    if (trainer.told()) continue;
    v1::TrainerProcess process = ProcessOf(trainer.record());
    process.set_running(true);
    process.set_adopted(trainer.adopted());
    *report->add_trainers() = std::move(process);
  }
  gpus_.Report(report->mutable_device());
  for (const auto& [slot, words] : Faults()) {
    v1::SlotFault* told = report->add_slot_faults();
    told->set_slot(slot);
    told->set_words(words);
  }
  ReportStartTroubles(report);
  left_alone_.Report(report);
  ended_.Report(report);
}

}  // namespace rekindle::agent
