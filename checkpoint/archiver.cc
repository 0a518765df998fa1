#include "checkpoint/archiver.h"

#include <utility>

#include "common/clock.h"
#include "common/log.h"

namespace rekindle::checkpoint {

Archiver::Archiver(StoreOpener& stores, common::Metrics& metrics)
    : stores_(stores), metrics_(metrics), thread_([this](const std::stop_token& stop) { Loop(stop); }) {}

Archiver::~Archiver() = default;

void Archiver::Due(const std::string& store, const std::string& job_uid, const Retention& retention) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    due_[job_uid] = {store, retention};
  }
  changed_.notify_one();
}

void Archiver::Loop(const std::stop_token& stop) {
  std::unique_lock<std::mutex> lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return !due_.empty(); }) && !stop.stop_requested()) {
    const auto next = due_.extract(due_.begin());
    lock.unlock();
    Archive(next.key(), next.mapped(), stop);
    lock.lock();
  }
}

void Archiver::Archive(const std::string& job_uid, const Job& job, const std::stop_token& stop) {
  auto hot = stores_.Open(job.store);
  auto cold = hot.ok() ? stores_.Open(job.retention.archive_store) : hot.status();
  absl::Status status = cold.status();
  if (status.ok()) {
    const auto archived = ArchiveDue(*hot, *cold, job_uid, job.retention, common::WallSeconds(),
                                     [&](int64_t, int64_t) { return !stop.stop_requested(); });
    status = archived.status();
    if (archived.ok()) {
      for (const std::string& name : archived->copied) {
        log::Info("checkpoint archived", {{"job", job_uid}, {"checkpoint", name}});
      }
      if (!archived->problems.empty()) status = absl::UnavailableError(archived->problems.front());
    }
  }
  if (status.ok() || absl::IsCancelled(status)) return;
  // It stays where it is, and is tried again after the next commit.
  metrics_.Counter("rekindle_checkpoint_failures_total", "Calls that failed.", {{"operation", "archive"}}).Increment();
  log::Warning("archiving failed", {{"job", job_uid}, {"error", std::string(status.message())}});
}

}  // namespace rekindle::checkpoint
