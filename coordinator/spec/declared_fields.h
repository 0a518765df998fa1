// Fills in and checks a section of a job's spec as the chosen kind declares its fields (worker/contract/parameter.h).
#ifndef REKINDLE_COORDINATOR_SPEC_DECLARED_FIELDS_H_
#define REKINDLE_COORDINATOR_SPEC_DECLARED_FIELDS_H_

#include <google/protobuf/message.h>

#include <span>
#include <string>
#include <vector>

#include "coordinator/spec/spec_checker.h"
#include "worker/contract/parameter.h"

namespace rekindle::coordinator {

// Returns what declares that field, or null.
const train::Parameter* FindParameter(std::span<const train::Parameter> parameters, const std::string& field);

// Sets each declared field that is left out to its default. `steps` are those of the job.
void FillParameters(std::span<const train::Parameter> parameters, int steps, google::protobuf::Message* section);

// Checks that `value` is in the declared range. `reads` is as in Checker.
void CheckParameter(Checker& check, const std::string& field, const train::Parameter& parameter, double value,
                    Fields reads);

// Returns the names of all kinds, in their order.
template <typename Kind>
std::vector<std::string> NamesOf(std::span<const Kind* const> kinds) {
  std::vector<std::string> names;
  for (const Kind* kind : kinds) names.push_back(kind->name);
  return names;
}

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SPEC_DECLARED_FIELDS_H_
