// Collects what the checks of a job find wrong, with the field's name and the fix.
#ifndef REKINDLE_COORDINATOR_SPEC_SPEC_CHECKER_H_
#define REKINDLE_COORDINATOR_SPEC_SPEC_CHECKER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "coordinator/spec/defaults.h"
#include "rekindle/v1/job.pb.h"

namespace rekindle::coordinator {

inline constexpr int kMaxSteps = 100'000'000;

// Fields are paths such as "spec.training.steps". "spec.training" stands for everything in that section.
using Fields = std::vector<std::string>;

struct Problem {
  std::string field;
  // `text` is the message about the problem. It begins with the field and ends with the fix. It is one line. Only
  // checks that the `rekindle` command makes itself may add a list of further lines.
  std::string text;
  absl::StatusCode code = absl::StatusCode::kInvalidArgument;
  // `reads` are the other fields that the problem speaks of. If it is empty, the field's own value is wrong whatever
  // the others are.
  Fields reads;
};

// A Checker is thread-compatible.
class Checker {
 public:
  void Refuse(const std::string& field, const std::string& why, Fields reads = {});
  void Require(bool holds, const std::string& field, const std::string& why, Fields reads = {});
  void Range(const std::string& field, double value, double low, double high, Fields reads = {});
  void Above(const std::string& field, double value, double low, double high, Fields reads = {});
  // Requires that the field's value is at least 0 and below 1.
  void Share(const std::string& field, double value, Fields reads = {});
  void OneOf(const std::string& field, const std::string& value, const std::vector<std::string>& known,
             Fields reads = {});
  // Adds the refusal of a check that does not use a Checker. It belongs to the field with which its message begins
  // ("spec.goals.budget: ..."). Otherwise it belongs to `field`, which is put before the message. With an empty `field`
  // it belongs to no field.
  void Add(const std::string& field, const absl::Status& status, Fields reads = {});

  // Returns whether no problem was found with the given fields, with a part of them, or with a section that contains
  // them.
  bool Sound(const Fields& fields) const;
  // Returns the problems in the order of the checks. Each field has at most one, and a problem that speaks of another
  // wrong field is left out.
  std::vector<Problem> Problems() const;
  // Returns a status with the code of the first problem. The text of each problem is on a line of its own, within the
  // limits of common::ListProblems.
  absl::Status status() const;

 private:
  std::vector<Problem> problems_;
};

// Returns the path of the job's field with which a refusal's message begins, or "" when it begins with no such path.
std::string FieldOf(const std::string& message);

// In the declarations of checks, `written` is the spec that the user wrote, and `spec` has every default filled in.

// The functions for the optimizer, the schedule, the other levers and recovery are in job_spec_levers.cc.
void FillLevers(v1::JobSpec& spec);
void CheckRecovery(Checker& check, const v1::JobSpec& spec);
void CheckOptimizer(Checker& check, const v1::JobSpec& spec);
void CheckSchedule(Checker& check, const v1::JobSpec& spec);
void CheckStepLevers(Checker& check, const v1::JobSpec& spec);
// The functions for the model and data sections are in job_spec_model.cc.
void FillModelAndData(v1::JobSpec& spec);
void CheckModel(Checker& check, const v1::JobSpec& spec);
void CheckData(Checker& check, const v1::JobSpec& spec);
// Returns the sections of spec.data on which the size of a sample depends.
Fields FieldsOfSampleSize();
// The functions for the checkpoint section are in job_spec_checkpoint.cc.
void FillCheckpoint(v1::JobSpec::Checkpoint& checkpoint, const Defaults& defaults);
void CheckCheckpoint(Checker& check, const v1::JobSpec& written, const v1::JobSpec& spec);
void CheckStore(Checker& check, const std::string& field, const std::string& store);
// Checks the archive of a job whose checkpoint store is the coordinator's default.
void CheckArchiveOfDefaultStore(Checker& check, const v1::JobSpec& written, const v1::JobSpec& spec);
// The functions for training, workers, goals, seed, priority, team and precision are in job_spec.cc.
void CheckTraining(Checker& check, const v1::JobSpec& spec);
void CheckWorkers(Checker& check, const v1::JobSpec& spec);
void CheckGoals(Checker& check, const v1::JobSpec& spec);
void CheckSeedPriorityTeam(Checker& check, const v1::JobSpec& spec);
void CheckPrecisionPolicy(Checker& check, const v1::JobSpec& written, const Defaults& defaults);

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SPEC_SPEC_CHECKER_H_
