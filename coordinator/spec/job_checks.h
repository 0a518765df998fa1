// Lists in one table every check that a job must pass to be accepted. SubmitJob and ValidateJob run all of it, so that
// they give the same answer. `rekindle validate --offline` runs the checks that need no coordinator, and names the
// others.
//
// Whoever adds a check must add a row. Until same_answer_test.cc of the server and tests/e2e/validate_test.py have a
// job that this check alone refuses, both tests fail.
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

// Says what a check must know in addition to the job. Several values may be joined by bitwise or.
enum Need : unsigned {
  kNothing = 0,
  // A check with `kOwnFiles` needs files of the machine on which the command runs. The command always looks at them
  // itself.
  kOwnFiles = 1,
  // A check with `kSettings` needs the settings with which the coordinator was started.
  kSettings = 2,
  // A check with `kFiles` needs files of the coordinator's machine, which looks at them when its trainers share that
  // machine.
  kFiles = 4,
  kNodes = 8,
  kPrices = 16,
  // A check with `kJobs` needs the other jobs.
  kJobs = 32,
};
inline constexpr unsigned kCluster = kNodes | kPrices | kJobs;

// Describes the needs in words, such as "nodes and prices".
std::string Describe(unsigned needs);

// Holds what is checked. The caller keeps the ownership.
struct Submission {
  // `job` is what the user wrote.
  const v1::Job& job;
  // `resolved` is the job's spec after FillSpec.
  const v1::JobSpec& resolved;
};

// Holds what checks may ask. What is left out is not known, and the checks that need it are not run.
struct Facts {
  // The caller keeps the ownership of `settings`.
  const Defaults* settings = nullptr;
  // `reach` is a part of the settings, and the caller keeps its ownership. Null means that a job may name whatever it
  // likes.
  const JobReach* reach = nullptr;
  bool files = false;
  std::function<absl::Status(const v1::JobSpec& resolved)> own_files = nullptr;
  // `room` and `cluster` are given together. `room` says whether one more job is allowed, and `cluster` whether the
  // core would refuse this job for the given reason.
  std::function<absl::Status()> room = nullptr;
  std::function<absl::Status(core::SubmitCheck)> cluster = nullptr;
};

struct JobCheck {
  // The name is unique.
  const char* name;
  unsigned needs;
  // The check is run only if these fields are right, because mistakes that follow from another one are not reported.
  Fields reads;
  void (*run)(const Submission&, const Facts&, Checker&);
};
std::span<const JobCheck> JobChecks();

// Runs the checks that need nothing of the cluster, as far as `facts` allow. It is thread-safe.
void CheckJob(const Submission& submission, const Facts& facts, Checker* check);
// Runs the checks that need the cluster, in the same way. REQUIRES: `room` and `cluster` are set, and this thread may
// call them.
void CheckInCluster(const Submission& submission, const Facts& facts, Checker* check);

// Returns whether that check is run with these facts.
bool IsRun(const JobCheck& check, const Facts& facts);

// Stands for the settings of a coordinator that is not asked. They are valid in themselves, and no real coordinator has
// them.
const Defaults& UnknownSettings();

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SPEC_JOB_CHECKS_H_
