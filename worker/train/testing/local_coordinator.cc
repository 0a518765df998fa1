#include "worker/train/testing/local_coordinator.h"

#include <algorithm>
#include <chrono>

#include "common/agreed/version.h"
#include "common/time/clock.h"
#include "coordinator/core/record/job_json.h"

namespace rekindle::train {
namespace {

// Tests wait as long as `kPatienceSeconds` because a busy machine is slow.
constexpr double kPatienceSeconds = 120;

v1::JobRecord RecordOf(const TrainSpec& spec, int min_workers) {
  v1::JobRecord record;
  record.set_secret(LocalCoordinator::kSecret);
  v1::Job& job = *record.mutable_job();
  job.set_name("test");
  job.set_uid(LocalCoordinator::kUid);
  v1::JobSpec& resolved = *job.mutable_status()->mutable_resolved_spec();
  resolved.mutable_workers()->set_min(min_workers);
  resolved.mutable_workers()->set_max(spec.micro_batches());
  resolved.mutable_training()->set_steps(spec.steps);
  resolved.mutable_training()->set_global_batch(spec.global_batch);
  resolved.mutable_training()->set_micro_batch(spec.micro_batch);
  resolved.mutable_training()->set_reduce(spec.exact ? "exact" : spec.sixteen_bit ? "bf16" : "fp32");
  resolved.mutable_training()->set_optimizer_state(spec.sharded_state ? "sharded" : "whole");
  if (spec.checkpoint.kind != CheckpointSpec::Kind::kNever) resolved.mutable_checkpoint()->set_store("memory");
  *job.mutable_spec() = resolved;
  return record;
}

v1::NodeReport NodeReportOf(const std::string& node, const std::string& trainer, bool running) {
  v1::NodeReport report;
  report.set_node(node);
  report.set_incarnation("folder of " + node);
  report.set_agent_incarnation("agent of " + node);
  report.set_protocol_version(common::kProtocolVersion);
  report.set_slots(1);
  v1::TrainerProcess& process = *report.add_trainers();
  process.set_trainer(trainer);
  process.set_job_uid(LocalCoordinator::kUid);
  process.set_running(running);
  process.set_exit_code(running ? 0 : -9);
  process.set_exit_seen(!running);
  return report;
}

}  // namespace

LocalCoordinator::LocalCoordinator(const TrainSpec& spec, int min_workers, double pace)
    : start_(common::SteadySeconds()),
      pace_(pace),
      cluster_(std::make_unique<core::Cluster>()),
      ticker_([this](std::stop_token stop) { TickLoop(stop); }) {
  Feed(core::Restored{});
  Feed(core::SubmitJob{RecordOf(spec, min_workers)});
}

LocalCoordinator::~LocalCoordinator() { ticker_.request_stop(); }

double LocalCoordinator::Now() const { return start_ + (common::SteadySeconds() - start_) * pace_; }

void LocalCoordinator::StepLocked(const core::Event& event) {
  const core::Effects effects = cluster_->Step(event, Now());
  for (const v1::JobRecord& record : effects.save_jobs) saved_jobs_[record.job().uid()] = record;
  for (const v1::NodeRecord& record : effects.save_nodes) saved_nodes_[record.name()] = record;
  wake_at_ = effects.wake_at;
  ++version_;
  changed_.NotifyAll();
}

void LocalCoordinator::Feed(const core::Event& event) {
  const common::MutexLock lock(mutex_);
  if (!away_) StepLocked(event);
}

void LocalCoordinator::TickLoop(std::stop_token stop) {
  common::MutexLock lock(mutex_);
  while (!stop.stop_requested()) {
    const double wait = std::clamp((wake_at_ - Now()) / pace_, 0.001, 1.0);
    const int64_t seen = version_;
    changed_.WaitFor(lock, stop, std::chrono::duration<double>(wait),
                     [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return version_ != seen; });
    if (!away_ && Now() >= wake_at_) StepLocked(core::Tick{});
  }
}

std::optional<v1::TrainerDirective> LocalCoordinator::Answer(const v1::TrainerReport& report) {
  const common::MutexLock lock(mutex_);
  if (away_) return std::nullopt;
  StepLocked(core::TrainerReported{report});
  return cluster_->DirectiveForTrainer(kUid, report.trainer());
}

void LocalCoordinator::ReportTrainer(const std::string& node, const std::string& trainer, bool running) {
  Feed(core::NodeReported{NodeReportOf(node, trainer, running)});
}

void LocalCoordinator::AddSpare(const std::string& node) {
  v1::NodeReport report = NodeReportOf(node, "", true);
  report.clear_trainers();
  Feed(core::NodeReported{report});
}

v1::JobStatus LocalCoordinator::Status() {
  const common::MutexLock lock(mutex_);
  const v1::JobRecord* record = cluster_->FindJob("test");
  return record == nullptr ? v1::JobStatus() : record->job().status();
}

std::string LocalCoordinator::JobFile() {
  const common::MutexLock lock(mutex_);
  const v1::JobRecord* record = away_ ? nullptr : cluster_->FindJob(kUid);
  if (record == nullptr) return "";
  return core::EncodeJobFile(core::MakeJobFile(*record, {}, common::WallSeconds())).value_or("");
}

void LocalCoordinator::Restart() {
  const common::MutexLock lock(mutex_);
  core::Restored restored;
  for (const auto& [uid, record] : saved_jobs_) restored.jobs.push_back(record);
  for (const auto& [name, record] : saved_nodes_) restored.nodes.push_back(record);
  cluster_ = std::make_unique<core::Cluster>();
  away_ = false;
  StepLocked(restored);
}

void LocalCoordinator::SetAway(bool away) {
  const common::MutexLock lock(mutex_);
  away_ = away;
}

bool LocalCoordinator::Await(const std::function<bool(const v1::JobStatus&)>& done) {
  common::MutexLock lock(mutex_);
  const auto is_done = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const v1::JobRecord* record = cluster_->FindJob("test");
    return record != nullptr && done(record->job().status());
  };
  return changed_.WaitFor(lock, std::chrono::duration<double>(kPatienceSeconds), is_done);
}

}  // namespace rekindle::train
