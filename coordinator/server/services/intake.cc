#include "coordinator/server/services/intake.h"

#include "absl/strings/str_cat.h"
#include "common/bundle/bundle.h"
#include "coordinator/spec/job_checks.h"
#include "coordinator/spec/job_secret.h"

namespace rekindle::coordinator {

Intake::Candidate Intake::Prepare(const v1::Job& job) const {
  Candidate candidate{job, FillSpec(job.spec(), options_.defaults), {}};
  CheckJob({candidate.job, candidate.resolved},
           {.settings = &options_.defaults, .reach = &options_.reach, .files = options_.reach.here}, &candidate.check);
  return candidate;
}

absl::Status Intake::CheckRoom() const {
  const size_t active = loop_->cluster().ActiveJobs();
  if (active < options_.max_active_jobs) return options_.reserve->CheckRoomForJobs();
  return absl::ResourceExhaustedError(
      absl::StrCat(active, " jobs are active, the most there may be: cancel some or wait"));
}

void Intake::CheckBundle(const v1::JobSpec::Model& model, Checker* check) const {
  const std::string& bundle = model.bundle();
  // An address that is none was refused before.
  if (!common::IsBundleAddress(bundle)) return;
  check->Require(options_.has_bundle(bundle), "spec.model.bundle",
                 absl::StrCat("this coordinator does not have the bundle ", bundle,
                              ": give the folder with the code, and `rekindle submit` sends it"));
}

absl::StatusOr<v1::JobRecord> Intake::Admit(const Candidate& candidate, const std::string& uid) const {
  v1::JobRecord record;
  record.mutable_job()->set_name(candidate.job.name());
  record.mutable_job()->set_uid(uid);
  *record.mutable_job()->mutable_spec() = candidate.job.spec();
  v1::JobStatus* status = record.mutable_job()->mutable_status();
  status->set_state(v1::PENDING);
  *status->mutable_resolved_spec() = candidate.resolved;
  status->set_submitted_at(loop_->unix_now());
  record.set_secret(NewJobSecret());

  const auto in_cluster = [&](core::SubmitCheck what) {
    return loop_->cluster().CheckSubmit(what, record, loop_->core_now());
  };
  // While the coordinator still waits for the reports of nodes and trainers after its start, CheckSubmit returns the
  // error that nothing is decided yet.
  if (loop_->cluster().IsListening()) return in_cluster(core::SubmitCheck::kName);
  Checker check = candidate.check;
  CheckInCluster({candidate.job, candidate.resolved}, {.room = [this] { return CheckRoom(); }, .cluster = in_cluster},
                 &check);
  // A job that is only validated has no uid, and its bundle is sent later.
  if (!uid.empty()) CheckBundle(candidate.resolved.model(), &check);
  if (!check.status().ok()) return check.status();
  return record;
}

}  // namespace rekindle::coordinator
