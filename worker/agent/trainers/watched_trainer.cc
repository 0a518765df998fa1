#include "worker/agent/trainers/watched_trainer.h"

#include <openssl/crypto.h>

#include <csignal>

#include "common/log/log.h"
#include "worker/agent/folder/exits.h"

namespace rekindle::agent {
namespace {

// The agent waits `kExitRecordSeconds` for init to record an exit, which takes milliseconds if there is an init.
constexpr double kExitRecordSeconds = 0.25;
// After a life lock was released, the agent asks the kernel only for `kEndingSeconds` how the process ends, because the
// kernel knows that before it releases the lock.
constexpr double kEndingSeconds = 0.25;

bool SameSecret(const std::string& a, const std::string& b) {
  return !a.empty() && a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace

WatchedTrainer::WatchedTrainer(Launched launched, std::string job_secret, const common::Waker* waker)
    : record_(std::move(launched.record)), process_(std::move(launched.process)), job_secret_(std::move(job_secret)) {
  if (launched.life) death_ = std::make_unique<DeathWatch>(*std::move(launched.life), record_.trainer, waker);
}

absl::StatusOr<WatchedTrainer> WatchedTrainer::Adopt(const TrainerRecord& record, const NodeFolder& folder,
                                                     const common::Waker* waker) {
  if (record.boot_id != common::BootId()) return absl::NotFoundError("the machine was restarted");
  absl::StatusOr<common::Process> process = common::Process::Open(record.process);
  if (!process.ok()) return process.status();
  const absl::StatusOr<v1::DesiredTrainer> desired = ReadJobFile(folder, record.job_uid, record.slot);
  Launched launched{.record = record, .process = *std::move(process)};
  absl::StatusOr<common::LifeLock> life = common::LifeLock::Open(common::LifeLockPath(folder.dir(), record.trainer));
  if (life.ok()) launched.life.emplace(*std::move(life));
  WatchedTrainer trainer(std::move(launched), desired.ok() ? desired->job_secret() : "", waker);
  trainer.adopted_ = true;
  return trainer;
}

WatchedTrainer::End WatchedTrainer::AskEnd(const NodeFolder& folder, double now) {
  const bool exited = process_.Exited();
  End end{.status = exited ? ExitOf(folder, now) : EarlyExitOf(now)};
  end.is_gone = exited && end.status.has_value();
  end.is_near = !end.status && (exited || hinted_since_);
  return end;
}

std::optional<common::ExitStatus> WatchedTrainer::ExitOf(const NodeFolder& folder, double now) {
  const absl::StatusOr<common::ExitStatus> reaped = process_.Reap();
  if (reaped.ok()) return *reaped;
  // A trainer that cannot be reaped was started by an earlier agent. Init is its parent, so init has the exit status.
  std::optional<common::ExitStatus> recorded = TakeExit(folder.dir(), record_.process);
  if (recorded) return recorded;
  if (!exit_unknown_since_) exit_unknown_since_ = now;
  if (now - *exit_unknown_since_ < kExitRecordSeconds) return std::nullopt;
  return common::ExitStatus{kUnknownExit};
}

std::optional<common::ExitStatus> WatchedTrainer::EarlyExitOf(double now) {
  if (told_ || death_ == nullptr || !death_->hinted()) return told_;
  if (!hinted_since_) hinted_since_ = now;
  const std::optional<common::ExitStatus> ending = process_.Ending();
  if (ending) {
    // SIGKILL does not affect a process that is really ending, not even its exit code. If the kernel's answer was
    // wrong, SIGKILL makes sure that the process runs no further instruction.
    const absl::Status killed = process_.Signal(SIGKILL);
    if (killed.ok() || absl::IsNotFound(killed)) return ending;
  }
  if (now - *hinted_since_ >= kEndingSeconds) {
    log::Info("a trainer let go of its life lock and is not known to fail: its end is awaited",
              {{"trainer", record_.trainer}});
    hinted_since_.reset();
    death_.reset();
  }
  return std::nullopt;
}

std::optional<int> WatchedTrainer::WatchFd() const {
  return exit_unknown_since_ ? std::nullopt : std::optional<int>(process_.fd());
}

absl::Status WatchedTrainer::Attach(const v1::AttachRequest& request, AgentMetrics* metrics) {
  const common::ProcessIdentity claimed = {.pid = request.pid(),
                                           .start_time_ticks = static_cast<uint64_t>(request.start_time_ticks())};
  if (claimed != record_.process) return absl::PermissionDeniedError("another process is that trainer");
  if (request.job_uid() != record_.job_uid || !SameSecret(request.job_secret(), job_secret_)) {
    return absl::PermissionDeniedError("the job or its secret does not match");
  }
  if (!attached_) log::Info("trainer attached", {{"trainer", record_.trainer}});
  attached_ = true;
  at_rest_ = request.at_rest();
  keeps_final_state_ = request.keeps_final_state();
  if (request.has_metrics()) {
    metrics->Advance(record_.job_name, metrics_, request.metrics());
    metrics_ = request.metrics();
  }
  return absl::OkStatus();
}

}  // namespace rekindle::agent
