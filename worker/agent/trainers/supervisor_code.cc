// The parts of supervisor.h for the code of jobs.
#include <limits>
#include <utility>

#include "common/text/printable.h"
#include "worker/agent/trainers/supervisor.h"

namespace rekindle::agent {
namespace {

constexpr size_t kMostWords = 400;

}  // namespace

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
  absl::StatusOr<Launched> launched = LaunchWithCode(desired, slot, now);
  if (launched.ok()) {
    not_launched_.erase(slot);
  } else {
    v1::StartTrouble& trouble = not_launched_[slot];
    trouble.set_job_uid(desired.job_uid());
    trouble.set_words(common::Printable(std::string(launched.status().message()), kMostWords));
  }
  return launched;
}

absl::StatusOr<Launched> Supervisor::LaunchWithCode(const v1::DesiredTrainer& desired, int slot, double now) {
  std::vector<std::string> code;
  if (!desired.spec().model().python().empty()) {
    absl::StatusOr<std::vector<std::string>> prepared = code_.Prepare(desired);
    if (!prepared.ok()) return prepared.status();
    code = *std::move(prepared);
  }
  return LaunchTrainer(options_.launch, *folder_, desired, gpus_.DeviceOf(slot), code, now);
}

void Supervisor::ReportStartTroubles(v1::NodeReport* report) const {
  std::map<std::string, std::string> troubles;
  for (const auto& [number, desired] : desired_) {
    const auto slot = node_.slots.find(number);
    if (slot != node_.slots.end() && slot->second.running) continue;
    const std::string& bundle = desired.spec().model().bundle();
    std::string words = bundle.empty() ? "" : options_.why_no_bundle(bundle);
    const auto failed = not_launched_.find(number);
    if (words.empty() && failed != not_launched_.end() && failed->second.job_uid() == desired.job_uid()) {
      words = failed->second.words();
    }
    if (!words.empty()) troubles.emplace(desired.job_uid(), words);
  }
  for (const auto& [job_uid, words] : troubles) {
    v1::StartTrouble* trouble = report->add_start_troubles();
    trouble->set_job_uid(job_uid);
    trouble->set_words(words);
  }
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
