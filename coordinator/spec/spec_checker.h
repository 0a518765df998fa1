// What the checks of a job share: they collect what is wrong, with the field's name and the fix.
#ifndef REKINDLE_COORDINATOR_SPEC_SPEC_CHECKER_H_
#define REKINDLE_COORDINATOR_SPEC_SPEC_CHECKER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "coordinator/spec/job_spec.h"

namespace rekindle::coordinator {

inline constexpr int kMaxSteps = 100'000'000;

using Fields = std::vector<std::string>;  // Their paths, as "spec.training.steps"; "spec.training" is all in it.

struct Problem {
  std::string field;
  std::string text;  // Begins with the field, and ends with the fix. One line, but for lists of the command's own.
  absl::StatusCode code = absl::StatusCode::kInvalidArgument;
  // The other fields that it speaks of. Empty: the field's own value is wrong, whatever the others are.
  Fields reads;
};

// Thread-compatible.
class Checker {
 public:
  void Refuse(const std::string& field, const std::string& why, Fields reads = {});
  void Require(bool holds, const std::string& field, const std::string& why, Fields reads = {});
  void Range(const std::string& field, double value, double low, double high, Fields reads = {});
  void Above(const std::string& field, double value, double low, double high, Fields reads = {});
  // At least 0 and below 1.
  void Share(const std::string& field, double value, Fields reads = {});
  void OneOf(const std::string& field, const std::string& value, const std::vector<std::string>& known,
             Fields reads = {});
  // A refusal from elsewhere. It is of the field that its message begins with ("spec.goals.budget: ..."), else of
  // `field`, which is set before it; with an empty one it is of no field.
  void Add(const std::string& field, const absl::Status& status, Fields reads = {});

  // Is nothing wrong with them, nor with what they are part of?
  bool Sound(const Fields& fields) const;
  // In the order of the checks: one a field, and none that speaks of a field that is wrong itself.
  std::vector<Problem> Problems() const;
  // A status with the code of the first problem, and the text of each on a line of its own, as common::ListProblems
  // bounds them.
  absl::Status status() const;

 private:
  std::vector<Problem> problems_;
};

// Does the message of a refusal begin with a field of the job? Its path; else empty.
std::string FieldOf(const std::string& message);

// `written` is as the user wrote it, `spec` with every default filled in.

// The optimizer, the schedule, early stop, recovery (job_spec_levers.cc).
void FillLevers(v1::JobSpec& spec);
void CheckRecovery(Checker& check, const v1::JobSpec& spec);
void CheckOptimizer(Checker& check, const v1::JobSpec& spec);
void CheckSchedule(Checker& check, const v1::JobSpec& spec);
void CheckEarlyStop(Checker& check, const v1::JobSpec& spec);
// The model and data sections (job_spec_model.cc).
void FillModelAndData(v1::JobSpec& spec);
void CheckModel(Checker& check, const v1::JobSpec& spec);
void CheckData(Checker& check, const v1::JobSpec& spec);
// The checkpoint section (job_spec_checkpoint.cc).
void FillCheckpoint(v1::JobSpec::Checkpoint& checkpoint, const Defaults& defaults);
void CheckCheckpoint(Checker& check, const v1::JobSpec& written, const v1::JobSpec& spec);
void CheckStore(Checker& check, const std::string& field, const std::string& store);
// Where the store is the coordinator's own.
void CheckArchiveOfDefaultStore(Checker& check, const v1::JobSpec& written, const v1::JobSpec& spec);
// All others (job_spec.cc).
void CheckTraining(Checker& check, const v1::JobSpec& spec);
void CheckWorkers(Checker& check, const v1::JobSpec& spec);
void CheckGoals(Checker& check, const v1::JobSpec& spec);
void CheckSeedPriorityTeam(Checker& check, const v1::JobSpec& spec);
void CheckPrecisionPolicy(Checker& check, const v1::JobSpec& written, const Defaults& defaults);

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SPEC_SPEC_CHECKER_H_
