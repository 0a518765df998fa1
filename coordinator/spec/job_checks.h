// Every check that a job must pass to be taken in, in one table. SubmitJob and ValidateJob run all of it, so that they
// give the same answer; `rekindle validate --offline` runs what needs no coordinator, and names the rest.
//
// Whoever adds a check adds a row, and a job that this check alone refuses to server/same_answer_test.cc and to
// tests/e2e/validate_test.py, which fail until that is so.
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

// What a check must know beside the job; several may be joined.
enum Need : unsigned {
  kNothing = 0,
  kOwnFiles = 1,  // Files of the machine on which the command runs, which looks at them in either case.
  kSettings = 2,  // How the coordinator was started.
  kFiles = 4,     // Files of its machine; it looks at them where its trainers share the machine.
  kNodes = 8,
  kPrices = 16,
  kJobs = 32,  // Other jobs.
};
inline constexpr unsigned kCluster = kNodes | kPrices | kJobs;

// "nodes and prices".
std::string Describe(unsigned needs);

// What is checked. Not owned.
struct Submission {
  const v1::Job& job;           // What the user wrote.
  const v1::JobSpec& resolved;  // Its spec, by FillSpec.
};

// What checks may ask. What is left out is not known, and the checks that need it are not run.
struct Facts {
  const Defaults* settings = nullptr;  // Not owned.
  const JobReach* reach = nullptr;     // A part of the settings; not owned. Null: a job may name whatever it likes.
  bool files = false;
  std::function<absl::Status(const v1::JobSpec& resolved)> own_files = nullptr;
  // Both together. May another job come? Would the core refuse this one for that reason?
  std::function<absl::Status()> room = nullptr;
  std::function<absl::Status(core::SubmitCheck)> cluster = nullptr;
};

struct JobCheck {
  const char* name;  // Unique.
  unsigned needs;
  Fields reads;  // It is run only if nothing is wrong with these: what follows from another mistake is not told.
  void (*run)(const Submission&, const Facts&, Checker&);
};
std::span<const JobCheck> JobChecks();

// Runs the checks that need nothing of the cluster, as far as `facts` allow. Thread-safe.
void CheckJob(const Submission& submission, const Facts& facts, Checker* check);
// Runs those that do, in the same way. REQUIRES: room and cluster are there; the thread on which these may be called.
void CheckInCluster(const Submission& submission, const Facts& facts, Checker* check);

// Is that check one of those that CheckJob runs with these facts?
bool IsRun(const JobCheck& check, const Facts& facts);

// Stands for the settings of a coordinator that is not asked: valid in themselves, and like nobody's.
const Defaults& UnknownSettings();

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SPEC_JOB_CHECKS_H_
