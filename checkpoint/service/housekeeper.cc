#include "checkpoint/service/housekeeper.h"

#include <utility>

#include "common/log/log.h"
#include "common/sync/mutex.h"
#include "common/time/clock.h"

namespace rekindle::checkpoint {
namespace {

// A node trains few jobs at a time. If more than `kMaxKnown` jobs are known, all are forgotten. Until a forgotten job's
// next commit, `MakeRoom` removes only those of its shards that no checkpoint names.
constexpr size_t kMaxKnown = 1024;

}  // namespace

void CountFailure(common::Metrics& metrics, const char* operation) {
  metrics
      .Counter("rekindle_checkpoint_failed_calls_total",
               "What the checkpoint service was to do and failed at, but for what is not there.",
               {{"operation", operation}})
      .Increment();
}

Housekeeper::Housekeeper(StoreOpener& stores, const StoreRoom& room, common::Metrics& metrics)
    : stores_(stores), room_(room), metrics_(metrics) {
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
    const common::MutexLock lock(mutex_);
    Remember(job_uid).newest = {store, generation, retention};
    if (retention.keep_last > 0) due_[&collecting_][job_uid] = {store, generation, retention};
    if (!retention.archive_store.empty()) due_[&archiving_][job_uid] = {store, generation, retention};
  }
  changed_.NotifyAll();
}

Housekeeper::Known& Housekeeper::Remember(const std::string& job_uid) {
  if (known_.size() >= kMaxKnown && !known_.contains(job_uid)) known_.clear();
  return known_[job_uid];
}

void Housekeeper::MakeRoom(const std::string& store, const std::string& job_uid, int generation) {
  Job job{store, generation, {}};
  const common::MutexLock one_at_a_time(making_room_);
  {
    const common::MutexLock lock(mutex_);
    Known& known = Remember(job_uid);
    const double now = common::SteadySeconds();
    if (now < known.made_room + kMakeRoomSeconds) return;
    known.made_room = now;
    if (known.newest.store == store) job.retention = known.newest.retention;
  }
  Tell(job_uid, collecting_.operation, Collect(job_uid, job, {}));
}

void Housekeeper::Tell(const std::string& job_uid, const char* operation, const absl::Status& status) {
  if (status.ok() || absl::IsCancelled(status)) return;
  CountFailure(metrics_, operation);
  log::Warning("checkpoints were not tidied up",
               {{"job", job_uid}, {"operation", operation}, {"error", std::string(status.message())}});
}

void Housekeeper::Loop(const std::stop_token& stop, Line& line) {
  common::MutexLock lock(mutex_);
  const auto is_due = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !due_[&line].empty(); };
  while (changed_.Wait(lock, stop, is_due) && !stop.stop_requested()) {
    const auto next = due_[&line].extract(due_[&line].begin());
    lock.Unlock();
    // If collecting or archiving fails, that is only logged, because the checkpoint that was committed before is
    // durable already. The work is tried again after the next checkpoint.
    Tell(next.key(), line.operation, (this->*line.work)(next.key(), next.mapped(), stop));
    lock.Lock();
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
  const auto archived = ArchiveDue(
      *hot, *cold, job_uid, job.retention, common::WallSeconds(),
      [&](int64_t, int64_t) { return !stop.stop_requested(); },
      [&](int64_t bytes) { return room_.Check(job.retention.archive_store, bytes); });
  if (!archived.ok()) return archived.status();
  for (const std::string& name : archived->copied) {
    log::Info("checkpoint archived", {{"job", job_uid}, {"checkpoint", name}});
  }
  return archived->problems.empty() ? absl::OkStatus() : absl::UnavailableError(archived->problems.front());
}

}  // namespace rekindle::checkpoint
