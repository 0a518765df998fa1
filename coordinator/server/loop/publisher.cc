#include "coordinator/server/loop/publisher.h"

#include <optional>
#include <utility>

#include "common/log/log.h"
#include "coordinator/server/loop/alerts.h"

namespace rekindle::coordinator {

Publisher::Publisher(const core::Cluster* cluster, const CoreClock* clock, PublishedState* state,
                     std::function<void(const v1::Event&)> on_alert,
                     std::function<void(const std::string&)> on_forgotten)
    : cluster_(cluster),
      clock_(clock),
      state_(state),
      on_alert_(std::move(on_alert)),
      on_forgotten_(std::move(on_forgotten)) {}

void Publisher::Publish(const std::set<std::string>& changed, const std::vector<std::string>& forgotten,
                        const std::vector<v1::Event>& events) {
  for (const std::string& uid : changed) {
    if (const v1::JobRecord* record = cluster_->FindJob(uid)) Show(*record, events);
  }
  for (const std::string& uid : forgotten) {
    // A job in `forgotten` may be known again by now, because its trainers have reported after it was forgotten.
    if (cluster_->FindJob(uid) == nullptr) Forget(uid);
  }
  for (const v1::Event& event : events) Log(event);
  if (!events.empty()) state_->bulletin.Publish("events");
}

void Publisher::Show(const v1::JobRecord& record, const std::vector<v1::Event>& events) {
  const std::string& uid = record.job().uid();
  if (!cluster_->IsListening()) {
    SetLease(record);
    state_->job_files.Set(record, clock_->UnixNow());
  }
  const JobBoard::JobPointer before = state_->jobs.Find(uid);
  state_->job_metrics.Update(before.get(), record.job(), events, clock_->UnixNow());
  state_->jobs.Set(record.job());
  state_->bulletin.Publish("job/" + uid);
}

void Publisher::Forget(const std::string& uid) {
  state_->job_metrics.Forget(uid);
  state_->jobs.Forget(uid);
  state_->job_files.Forget(uid);
  state_->leases.Forget(uid);
  state_->leases.SetSpending(uid, std::nullopt);
  // Whoever watches the job is woken, and learns that the job is gone.
  state_->bulletin.Forget("job/" + uid);
  on_forgotten_(uid);
}

void Publisher::Log(const v1::Event& event) {
  const bool alert = IsAlert(event);
  log::Write(alert ? log::Level::kWarning : log::Level::kInfo, event.text(),
             {{"event", event.kind()},
              {"job", event.job()},
              {"generation", event.generation()},
              {"step", event.step()},
              {"node", event.node()}});
  if (alert) on_alert_(event);
}

void Publisher::SetLease(const v1::JobRecord& record) {
  const std::string& uid = record.job().uid();
  const double granted = record.granted_until();
  const bool is_limited = granted > 0 && !IsOver(record.job());
  state_->leases.SetSpending(uid, is_limited ? std::optional(granted - clock_->UnixNow()) : std::nullopt);
  const v1::JobState state = record.job().status().state();
  const bool stands =
      (state == v1::RUNNING || state == v1::FINISHING) && record.ended_generation() < record.membership().generation();
  if (!stands) return state_->leases.Forget(uid);
  state_->leases.Set(uid, record.membership().generation(), record.membership().digest(), record.secret());
}

}  // namespace rekindle::coordinator
