// Accepts or refuses the jobs that users submit. SubmitJob and ValidateJob both run every check of the table in
// spec/job_checks.h.
#ifndef REKINDLE_COORDINATOR_SERVER_SERVICES_INTAKE_H_
#define REKINDLE_COORDINATOR_SERVER_SERVICES_INTAKE_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordinator/server/loop/loop.h"
#include "coordinator/spec/job_files.h"
#include "coordinator/spec/job_spec.h"
#include "coordinator/spec/spec_checker.h"
#include "coordinator/store/disk_reserve.h"
#include "rekindle/v1/store.pb.h"

namespace rekindle::coordinator {

class Intake {
 public:
  struct Options {
    Defaults defaults;
    // `reach` says which files and stores the fields of a job may name.
    JobReach reach;
    // At most `max_active_jobs` jobs may exist that are not over.
    size_t max_active_jobs = 0;
    // `reserve` is the disk reserve, which says whether the disk has room for new jobs. It must not be null, and the
    // caller keeps its ownership.
    const DiskReserve* reserve = nullptr;
    // `has_bundle` says whether the coordinator has a bundle, and keeps it for the job that is made next. It is called
    // on the loop's thread and must not wait.
    std::function<bool(const std::string& address)> has_bundle = [](const std::string&) { return false; };
  };

  // The caller keeps the ownership of the loop, which must outlive this object.
  Intake(const Loop* loop, Options options) : loop_(loop), options_(std::move(options)) {}

  // Holds a job with its defaults, and the mistakes in it that can be found without the cluster.
  struct Candidate {
    // `job` is what the user wrote.
    v1::Job job;
    v1::JobSpec resolved;
    Checker check;
  };
  // Fills in the defaults of the job and runs the checks that need no cluster. Prepare may look at many files. It is
  // thread-safe.
  Candidate Prepare(const v1::Job& job) const;

  // Returns the record of a new job with the given uid, or all reasons to refuse the job, one per line. Admit changes
  // nothing. It must be called on the loop's thread.
  absl::StatusOr<v1::JobRecord> Admit(const Candidate& candidate, const std::string& uid) const;

  // Returns OK where one more job may be active. It must be called on the loop's thread.
  absl::Status CheckRoom() const;

 private:
  void CheckBundle(const v1::JobSpec::Model& model, Checker* check) const;

  const Loop* const loop_;
  const Options options_;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_SERVICES_INTAKE_H_
