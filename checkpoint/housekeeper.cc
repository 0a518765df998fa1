#include "checkpoint/housekeeper.h"

#include <utility>

#include "common/clock.h"
#include "common/log.h"

namespace rekindle::checkpoint {

Housekeeper::Housekeeper(StoreOpener& stores, common::Metrics& metrics) : stores_(stores), metrics_(metrics) {
  for (Line* line : {&collecting_, &archiving_}) {
    line->thread = std::jthread([this, line](const std::stop_token& stop) { Loop(stop, *line); });
  }
}

Housekeeper::~Housekeeper() {
  for (Line* line : {&collecting_, &archiving_}) line->thread.request_stop();
  for (Line* line : {&collecting_, &archiving_}) line->thread.join();
}

void Housekeeper::Due(const std::string& store, const std::string& job_uid, int generation,
                      const Retention& retention) {
  {
    const std::lock_guard lock(mutex_);
    if (retention.keep_last > 0) collecting_.due[job_uid] = {store, generation, retention};
    if (!retention.archive_store.empty()) archiving_.due[job_uid] = {store, generation, retention};
  }
  changed_.notify_all();
}

void Housekeeper::Loop(const std::stop_token& stop, Line& line) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [&] { return !line.due.empty(); }) && !stop.stop_requested()) {
    const auto next = line.due.extract(line.due.begin());
    lock.unlock();
    const absl::Status status = (this->*line.work)(next.key(), next.mapped(), stop);
    if (!status.ok() && !absl::IsCancelled(status)) {
      // The checkpoint is durable; what is left over is tried again after the next one.
      metrics_.Counter("rekindle_checkpoint_failures_total", "Calls that failed.", {{"operation", line.operation}})
          .Increment();
      log::Warning("checkpoints were not tidied up",
                   {{"job", next.key()}, {"operation", line.operation}, {"error", std::string(status.message())}});
    }
    lock.lock();
  }
}

absl::Status Housekeeper::Collect(const std::string& job_uid, const Job& job, const std::stop_token&) {
  auto store = stores_.Open(job.store);
  if (!store.ok()) return store.status();
  return store->Collect(job_uid, job.retention, common::WallSeconds(), {.generation = job.generation}).status();
}

absl::Status Housekeeper::Archive(const std::string& job_uid, const Job& job, const std::stop_token& stop) {
  auto hot = stores_.Open(job.store);
  auto cold = hot.ok() ? stores_.Open(job.retention.archive_store) : hot.status();
  if (!cold.ok()) return cold.status();
  const auto archived = ArchiveDue(*hot, *cold, job_uid, job.retention, common::WallSeconds(),
                                   [&](int64_t, int64_t) { return !stop.stop_requested(); });
  if (!archived.ok()) return archived.status();
  for (const std::string& name : archived->copied) {
    log::Info("checkpoint archived", {{"job", job_uid}, {"checkpoint", name}});
  }
  return archived->problems.empty() ? absl::OkStatus() : absl::UnavailableError(archived->problems.front());
}

}  // namespace rekindle::checkpoint
