// Takes jobs in: runs every check of the table (spec/job_checks.h), for SubmitJob and ValidateJob alike.
#ifndef REKINDLE_COORDINATOR_SERVER_INTAKE_H_
#define REKINDLE_COORDINATOR_SERVER_INTAKE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordinator/disk_reserve.h"
#include "coordinator/server/loop.h"
#include "coordinator/spec/job_files.h"
#include "coordinator/spec/job_spec.h"
#include "coordinator/spec/spec_checker.h"
#include "rekindle/v1/store.pb.h"

namespace rekindle::coordinator {

class Intake {
 public:
  struct Options {
    Defaults defaults;
    JobReach reach;                        // What jobs may name.
    size_t max_active_jobs = 0;            // That are not over.
    const DiskReserve* reserve = nullptr;  // Not null, not owned.
  };

  // The loop is not owned and outlives it.
  Intake(const Loop* loop, Options options) : loop_(loop), options_(std::move(options)) {}

  // A job with its defaults, and what is wrong in it as far as the cluster has no part in that.
  struct Candidate {
    v1::Job job;  // What the user wrote.
    v1::JobSpec resolved;
    Checker check;
  };
  // May look at many files. Thread-safe.
  Candidate Look(const v1::Job& job) const;

  // The record of a new job of that uid; or all that speaks against it, one a line. Changes nothing. On the loop's
  // thread.
  absl::StatusOr<v1::JobRecord> Admit(const Candidate& candidate, const std::string& uid) const;

 private:
  absl::Status CheckRoom() const;

  const Loop* const loop_;
  const Options options_;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_INTAKE_H_
