#include "coordinator/server/loop/decisions.h"

#include "absl/strings/str_cat.h"

namespace rekindle::coordinator {

Decisions::Decisions(core::Cluster* cluster, Journal* journal, const CoreClock* clock, PublishedState* published,
                     common::Metrics* metrics)
    : cluster_(cluster),
      journal_(journal),
      clock_(clock),
      published_(published),
      crowded_out_(metrics->Counter("rekindle_crowded_out_total",
                                    "Trainers, nodes, refusals and things told that full lists have forgotten.")) {}

absl::Status Decisions::Take(const core::Event& event) {
  core::Effects effects;
  cluster_->TakeEvent(event, clock_->CoreNow(), &effects);
  Absorb(effects);
  return effects.status;
}

void Decisions::Take(Mutation mutation) {
  if (!mutation.request_id.empty()) {
    // If the first request with this id came in the same turn of the loop, the core has not decided on it yet. It does
    // so now, so that the answer can be repeated.
    if (undecided_requests_.contains(mutation.request_id)) Decide();
    if (const v1::RequestRecord* seen = journal_->FindRequest(mutation.request_id)) {
      if (seen->call() == mutation.call) return Answer(mutation, seen->reply());
      return Answer(mutation,
                    absl::InvalidArgumentError(absl::StrCat("request_id: ", mutation.request_id,
                                                            " was used for another call: use a new one for each")));
    }
  }
  const absl::StatusOr<core::Event> event = mutation.event();
  if (!event.ok()) return Answer(mutation, event.status());
  if (absl::Status status = Take(*event); !status.ok()) return Answer(mutation, status);
  if (!mutation.request_id.empty()) undecided_requests_.insert(mutation.request_id);
  undecided_.push_back(std::move(mutation));
}

void Decisions::Decide() {
  core::Effects effects;
  cluster_->Settle(clock_->CoreNow(), &effects);
  Absorb(effects);
  wake_at_ = effects.wake_at;
  undecided_requests_.clear();
  for (Mutation& mutation : std::exchange(undecided_, {})) {
    absl::StatusOr<std::string> reply = mutation.answer();
    if (reply.ok() && !mutation.request_id.empty()) {
      v1::RequestRecord record;
      record.set_id(mutation.request_id);
      record.set_call(mutation.call);
      record.set_reply(*reply);
      record.set_at(clock_->UnixNow());
      journal_->Add(record);
    }
    Answer(mutation, std::move(reply));
  }
}

void Decisions::Absorb(const core::Effects& effects) {
  journal_->Add(effects, clock_->UnixNow());
  Unpublished& to = unpublished_;
  to.changed_jobs.insert(effects.changed_jobs.begin(), effects.changed_jobs.end());
  to.forgotten_jobs.insert(to.forgotten_jobs.end(), effects.forget_jobs.begin(), effects.forget_jobs.end());
  for (const std::string& uid : effects.forget_jobs) {
    const JobBoard::JobPointer job = published_->jobs.Find(uid);
    journal_->Add(std::vector<Write>{published_->job_metrics.totals().Forget(uid, job.get())});
  }
  crowded_out_.Increment(effects.crowded_out);
  to.touched.jobs.insert(effects.touched_jobs.begin(), effects.touched_jobs.end());
  to.touched.all = to.touched.all || effects.all_touched;
  to.orders.insert(to.orders.end(), effects.orders.begin(), effects.orders.end());
  for (const v1::PoolRecord& pool : effects.save_pools) to.pools[pool.name()] = pool;
  to.leases.insert(to.leases.end(), effects.leases.begin(), effects.leases.end());
}

void Decisions::Answer(Mutation& mutation, absl::StatusOr<std::string> reply) {
  unpublished_.answers.emplace_back(std::move(mutation.done), std::move(reply));
}

}  // namespace rekindle::coordinator
