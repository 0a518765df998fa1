// Lists in one table every check that a job must pass to be accepted. SubmitJob and ValidateJob run all of the table,
// so that they give the same answer. `rekindle validate --offline` runs the checks that need no coordinator, and names
// the others.
//
// Whoever adds a check must add a row to the table. Both same_answer_test.cc of the server and
// tests/e2e/validate_test.py fail until they have a job that only the new check refuses.
#ifndef REKINDLE_COORDINATOR_SPEC_JOB_CHECKS_H_
#define REKINDLE_COORDINATOR_SPEC_JOB_CHECKS_H_

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "coordinator/core/cluster.h"
#include "coordinator/spec/job_files.h"
#include "coordinator/spec/job_spec.h"
#include "coordinator/spec/spec_checker.h"
#include "rekindle/v1/job.pb.h"

namespace rekindle::coordinator {

// Says what a check must know in addition to the job. Several needs may be joined by bitwise or.
enum Need : unsigned {
  kNothing = 0,
  // A check with `kOwnFiles` needs files of the machine on which the `rekindle` command runs. The command always looks
  // at them itself.
  kOwnFiles = 1,
  // A check with `kSettings` needs the settings with which the coordinator was started.
  kSettings = 2,
  // A check with `kFiles` needs files of the coordinator's machine. The coordinator looks at them when its trainers
  // share that machine.
  kFiles = 4,
  kNodes = 8,
  kPrices = 16,
  // A check with `kJobs` needs the other jobs of the cluster.
  kJobs = 32,
};
inline constexpr unsigned kCluster = kNodes | kPrices | kJobs;

// Describes the needs of a check in words, such as "nodes and prices".
std::string Describe(unsigned needs);

// Holds the job that is checked. The caller keeps the ownership.
struct Submission {
  // `job` is the job as the user wrote it.
  const v1::Job& job;
  // `resolved` is the job's spec after FillSpec.
  const v1::JobSpec& resolved;
};

// Holds the facts that checks may use in addition to the job. Members that are left out are not known, and the checks
// that need them are not run.
struct Facts {
  // The caller keeps the ownership of `settings`.
  const Defaults* settings = nullptr;
  // `reach` is a part of the settings, and the caller keeps its ownership. Null means that a job may name any files and
  // stores.
  const JobReach* reach = nullptr;
  bool files = false;
  std::function<absl::Status(const v1::JobSpec& resolved)> own_files = nullptr;
  // `room` and `cluster` are given together. `room` returns an error if no more jobs are allowed. `cluster` returns the
  // error with which the given check of the core refuses the job.
  std::function<absl::Status()> room = nullptr;
  std::function<absl::Status(core::SubmitCheck)> cluster = nullptr;
};

struct JobCheck {
  // `name` is unique among the checks.
  const char* name;
  unsigned needs;
  // The check is run only if no problem was found with the fields in `reads`, because a problem that follows from
  // another one is not reported.
  Fields reads;
  void (*run)(const Submission&, const Facts&, Checker&);
};
std::span<const JobCheck> JobChecks();

// Runs the checks that need nothing of the cluster, as far as `facts` allow. CheckJob is thread-safe.
void CheckJob(const Submission& submission, const Facts& facts, Checker* check);
// Runs the checks that need the cluster, as far as `facts` allow. REQUIRES: `room` and `cluster` are set, and this
// thread may call them.
void CheckInCluster(const Submission& submission, const Facts& facts, Checker* check);

// Returns whether `facts` have everything that the check needs, so that it is run.
bool IsRun(const JobCheck& check, const Facts& facts);

// Returns settings to be used where the coordinator's own are not known, as in `rekindle validate --offline`. They are
// valid in themselves, and no real coordinator has them.
const Defaults& UnknownSettings();

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SPEC_JOB_CHECKS_H_
