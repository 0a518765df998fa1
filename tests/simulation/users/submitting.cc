#include "tests/simulation/users/submitting.h"

#include "absl/strings/str_format.h"

namespace rekindle::core::simulation {
namespace {

v1::JobRecord NewRecord(const SimJob& job) {
  v1::JobRecord record;
  record.set_secret("secret");
  record.mutable_job()->set_name(job.options.name);
  record.mutable_job()->set_uid(job.uid);
  v1::JobSpec* spec = record.mutable_job()->mutable_status()->mutable_resolved_spec();
  spec->mutable_training()->set_global_batch(job.options.micro_batches);
  spec->mutable_training()->set_micro_batch(1);
  spec->mutable_training()->set_steps(job.options.steps);
  spec->mutable_training()->set_reduce("exact");
  if (job.options.sharded) spec->mutable_training()->set_optimizer_state("sharded");
  spec->mutable_checkpoint()->set_store("file:///store");
  if (!job.options.lease) spec->mutable_recovery()->set_lease(kNoLease);
  spec->mutable_goals()->set_budget(job.options.budget);
  spec->set_priority(job.options.priority);
  spec->mutable_workers()->set_min(job.options.min);
  spec->mutable_workers()->set_max(job.options.max);
  return record;
}

}  // namespace

void Submitting::Submit(SimJob& job) {
  if (!job.submitted) {
    const JobOptions& is = job.options;
    world_.journal.Note(absl::StrFormat("the user of %s submits it: priority %d, %d to %d workers, budget %.5f",
                                        job.uid, is.priority, is.min, is.max, is.budget));
  }
  job.submitted = true;
  if (coordinator_.is_up() && coordinator_.core().FindJob(job.uid) == nullptr)
    coordinator_.Feed(SubmitJob{NewRecord(job)});
  world_.After(1, [this, &job] {
    if (!coordinator_.records().HasJob(job.uid)) Submit(job);
  });
}

}  // namespace rekindle::core::simulation
