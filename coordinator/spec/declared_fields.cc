#include "coordinator/spec/declared_fields.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/spec/message_fields.h"

namespace rekindle::coordinator {

using train::Parameter;

const Parameter* FindParameter(std::span<const Parameter> parameters, const std::string& field) {
  const auto found = std::find_if(parameters.begin(), parameters.end(),
                                  [&](const Parameter& parameter) { return field == parameter.field; });
  return found == parameters.end() ? nullptr : &*found;
}

void FillParameters(std::span<const Parameter> parameters, int steps, google::protobuf::Message* section) {
  for (const Parameter& parameter : parameters) {
    if (common::HasField(*section, parameter.field)) continue;
    const double part = std::max(parameter.low, std::floor(parameter.initial_part * steps));
    common::SetNumber(parameter.field, parameter.initial_part > 0 ? part : parameter.initial, section);
  }
}

void CheckParameter(Checker& check, const std::string& field, const Parameter& parameter, double value, Fields reads) {
  switch (parameter.ends) {
    case Parameter::Ends::kBothIn:
      return check.Range(field, value, parameter.low, parameter.high, std::move(reads));
    case Parameter::Ends::kLowOut:
      return check.Above(field, value, parameter.low, parameter.high, std::move(reads));
    case Parameter::Ends::kHighOut:
      return check.Share(field, value, std::move(reads));
  }
}

}  // namespace rekindle::coordinator
