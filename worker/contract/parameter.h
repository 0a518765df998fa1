// Declares how a choice that a job makes by name describes a field of the job's spec: its default and its valid range.
// The coordinator fills in defaults and checks values with these descriptions alone, and trainers check by the same
// ones. A field that the chosen kind does not declare is refused.
#ifndef REKINDLE_WORKER_CONTRACT_PARAMETER_H_
#define REKINDLE_WORKER_CONTRACT_PARAMETER_H_

namespace rekindle::train {

struct Parameter {
  // The enum says which of the ends `low` and `high` are allowed values themselves.
  enum class Ends { kBothIn, kLowOut, kHighOut };

  // `field` is the name of the field in the proto's message.
  const char* field;
  // `initial` is the value of a field that was left out.
  double initial = 0;
  // If `initial_part` is not 0, the default is this part of the job's steps instead, rounded down, but at least `low`.
  double initial_part = 0;
  double low = 0;
  double high = 0;
  Ends ends = Ends::kBothIn;
  // If `multiple_of` is not null, the value must be a multiple of the field of that name, which is declared before.
  const char* multiple_of = nullptr;
};

// Returns the same field with another default.
constexpr Parameter WithDefault(Parameter parameter, double initial) {
  parameter.initial = initial;
  return parameter;
}

// Returns whether `value` is in the range. NaN never is.
constexpr bool IsInRange(const Parameter& parameter, double value) {
  const bool low = parameter.ends == Parameter::Ends::kLowOut ? value > parameter.low : value >= parameter.low;
  const bool high = parameter.ends == Parameter::Ends::kHighOut ? value < parameter.high : value <= parameter.high;
  return low && high;
}

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_CONTRACT_PARAMETER_H_
