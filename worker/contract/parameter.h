// Declares how a kind that a job chooses by name (an optimizer, a schedule, a model) describes a field of the job's
// spec: its default and its valid range. The coordinator needs only these descriptions to fill in defaults and to check
// values, and trainers check values with them too. A field that the chosen kind does not declare is refused.
#ifndef REKINDLE_WORKER_CONTRACT_PARAMETER_H_
#define REKINDLE_WORKER_CONTRACT_PARAMETER_H_

namespace rekindle::train {

struct Parameter {
  // Says which of the ends of the range, `low` and `high`, are allowed values themselves.
  enum class Ends { kBothIn, kLowOut, kHighOut };

  // `field` is the name of the field in the proto's message.
  const char* field;
  // `initial` is the value of a field that was left out.
  double initial = 0;
  // If `initial_part` is not 0, a field that was left out gets `initial_part` times the number of the job's steps
  // instead of `initial`, rounded down, but at least `low`.
  double initial_part = 0;
  double low = 0;
  double high = 0;
  Ends ends = Ends::kBothIn;
  // If `multiple_of` is not null, the value of this field must be a multiple of the value of the field that it names.
  // That field is declared before this one.
  const char* multiple_of = nullptr;
};

// Returns a copy of `parameter` with another default.
constexpr Parameter WithDefault(Parameter parameter, double initial) {
  parameter.initial = initial;
  return parameter;
}

// Returns whether `value` is in the range of `parameter`. NaN is in no range.
constexpr bool IsInRange(const Parameter& parameter, double value) {
  const bool low = parameter.ends == Parameter::Ends::kLowOut ? value > parameter.low : value >= parameter.low;
  const bool high = parameter.ends == Parameter::Ends::kHighOut ? value < parameter.high : value <= parameter.high;
  return low && high;
}

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_CONTRACT_PARAMETER_H_
