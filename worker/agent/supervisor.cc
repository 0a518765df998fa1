#include "worker/agent/supervisor.h"

#include <algorithm>
#include <csignal>

#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "worker/agent/small_file.h"

namespace rekindle::agent {
namespace {

v1::TrainerProcess ToProto(const TrainerRecord& record) {
  v1::TrainerProcess process;
  process.set_trainer(record.trainer);
  process.set_job_uid(record.job_uid);
  process.set_slot(record.slot);
  return process;
}

}  // namespace

Supervisor::Supervisor(SupervisorOptions options, const NodeFolder* folder, AgentMetrics* metrics, LogShipper* logs,
                       const Waker* waker)
    : options_(std::move(options)), folder_(folder), metrics_(metrics), logs_(logs), waker_(waker) {}

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
  logs_->Start(record.trainer, record.job_uid, record.log);
  std::unique_ptr<DeathWatch> death;
  if (launched->life) death = std::make_unique<DeathWatch>(*std::move(launched->life), record.trainer, waker_);
  trainers_.emplace(slot, Trainer{.record = std::move(record),
                                  .process = std::move(launched->process),
                                  .job_secret = desired.job_secret(),
                                  .death = std::move(death)});
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
    if (trainer.told) continue;
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

}  // namespace rekindle::agent
