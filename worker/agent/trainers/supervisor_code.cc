// The parts of supervisor.h for the code of jobs.
#include <limits>
#include <utility>

#include "worker/agent/trainers/supervisor.h"

namespace rekindle::agent {

double Supervisor::KeepCode(double now) {
  // Before the coordinator has said what it wants, the code of any job may be wanted.
  if (!node_.desired_known && !node_.stop_all) return std::numeric_limits<double>::infinity();
  std::set<std::string> jobs;
  for (const auto& [slot, uid] : RunningJobs()) jobs.insert(uid);
  if (!node_.stop_all) {
    for (const auto& [slot, desired] : desired_) jobs.insert(desired.job_uid());
  }
  return code_.Keep(jobs, now);
}

absl::StatusOr<Launched> Supervisor::Launch(const v1::DesiredTrainer& desired, int slot, double now) {
  std::vector<std::string> code;
  if (!desired.spec().model().python().empty()) {
    absl::StatusOr<std::vector<std::string>> prepared = code_.Prepare(desired);
    if (!prepared.ok()) return prepared.status();
    code = *std::move(prepared);
  }
  return LaunchTrainer(options_.launch, *folder_, desired, gpus_.DeviceOf(slot), code, now);
}

void Supervisor::AwaitBundles() {
  for (const auto& [number, desired] : desired_) {
    const v1::JobSpec::Model& model = desired.spec().model();
    if (model.python().empty()) continue;
    Slot& slot = node_.slots[number];
    const bool is_running = slot.running && slot.running->job_uid == desired.job_uid();
    const bool has_bundle = model.bundle().empty() || options_.has_bundle(model.bundle());
    slot.wanted.reset();
    if (is_running || (has_bundle && code_.IsReady(desired))) slot.wanted = desired.job_uid();
  }
}

std::map<std::string, std::string> Supervisor::Bundles() const {
  const common::MutexLock lock(mutex_);
  std::map<std::string, std::string> bundles;
  const auto add = [&](const v1::DesiredTrainer& desired) {
    const std::string& bundle = desired.spec().model().bundle();
    if (!bundle.empty()) bundles.emplace(bundle, desired.job_uid());
  };
  for (const auto& [slot, desired] : desired_) add(desired);
  for (const auto& [slot, trainer] : trainers_) {
    const auto desired = ReadJobFile(*folder_, trainer.record().job_uid, slot);
    if (desired.ok()) add(*desired);
  }
  return bundles;
}

}  // namespace rekindle::agent
