// What the checks of a job's spec share: the first error, with the field's name and the fix.
#ifndef REKINDLE_COORDINATOR_SPEC_CHECKER_H_
#define REKINDLE_COORDINATOR_SPEC_CHECKER_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/nearest.h"
#include "coordinator/job_spec.h"

namespace rekindle::coordinator {

inline constexpr int kMaxSteps = 100'000'000;

// Keeps the first error; later checks are then skipped.
class Checker {
 public:
  const absl::Status& status() const { return status_; }

  void Refuse(const std::string& field, const std::string& why) {
    if (status_.ok()) status_ = absl::InvalidArgumentError(absl::StrCat(field, ": ", why));
  }
  void Require(bool holds, const std::string& field, const std::string& why) {
    if (!holds) Refuse(field, why);
  }
  void Range(const std::string& field, double value, double low, double high) {
    if (value >= low && value <= high) return;  // False for NaN.
    Refuse(field, absl::StrCat(value, " is out of range: use ", Limit(low), " to ", Limit(high)));
  }
  void Above(const std::string& field, double value, double low, double high) {
    if (value > low && value <= high) return;
    Refuse(field, absl::StrCat(value, " is out of range: use a number above ", low, ", at most ", high));
  }
  // At least 0 and below 1.
  void Share(const std::string& field, double value) {
    if (value >= 0 && value < 1) return;
    Refuse(field, absl::StrCat(value, " is out of range: use 0 or more, below 1"));
  }
  void OneOf(const std::string& field, const std::string& value, const std::vector<std::string>& known) {
    if (std::find(known.begin(), known.end(), value) != known.end()) return;
    const std::string nearest = common::Nearest(value, known);
    const std::string hint = nearest.empty() ? ";" : absl::StrCat("; did you mean '", nearest, "'?");
    Refuse(field, absl::StrCat("'", value, "' is not supported", hint, " supported: ", absl::StrJoin(known, ", ")));
  }

 private:
  // As users write it: 2592000, not 2.592e+06.
  static std::string Limit(double limit) {
    const auto whole = static_cast<int64_t>(limit);
    return static_cast<double>(whole) == limit ? absl::StrCat(whole) : absl::StrCat(limit);
  }

  absl::Status status_;
};

// The optimizer, the schedule, early stop (job_spec_levers.cc).
void FillLevers(v1::JobSpec& spec);
void CheckLevers(Checker& check, const v1::JobSpec& spec);
// The model and data sections (job_spec_model.cc).
void FillModelAndData(v1::JobSpec& spec);
void CheckModel(Checker& check, const v1::JobSpec& spec);
void CheckData(Checker& check, const v1::JobSpec& spec);
// The checkpoint section (job_spec_checkpoint.cc).
void FillCheckpoint(v1::JobSpec::Checkpoint& checkpoint, const Defaults& defaults);
void CheckCheckpoint(Checker& check, const v1::JobSpec& spec);
void CheckStore(Checker& check, const std::string& field, const std::string& store);

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SPEC_CHECKER_H_
