// Fills in and checks a section of a job's spec, such as `optimizer`. The kind that the section chooses declares which
// fields the section may have (worker/contract/parameter.h).
#ifndef REKINDLE_COORDINATOR_SPEC_DECLARED_FIELDS_H_
#define REKINDLE_COORDINATOR_SPEC_DECLARED_FIELDS_H_

#include <google/protobuf/message.h>

#include <span>
#include <string>
#include <vector>

#include "coordinator/spec/spec_checker.h"
#include "worker/contract/parameter.h"

namespace rekindle::coordinator {

// Returns the declaration of the field, or null if the kind does not declare it.
const train::Parameter* FindParameter(std::span<const train::Parameter> parameters, const std::string& field);

// Sets each declared field that the section leaves out to its default. `steps` is the number of steps of the job.
void FillParameters(std::span<const train::Parameter> parameters, int steps, google::protobuf::Message* section);

// Checks that the field's value is in the range that `parameter` declares. `reads` are the other fields on which the
// check depends (see Checker).
void CheckParameter(Checker& check, const std::string& field, const train::Parameter& parameter, double value,
                    Fields reads);

// Returns the names of the given kinds (for example all kinds of optimizers), in the order of `kinds`.
template <typename Kind>
std::vector<std::string> NamesOf(std::span<const Kind* const> kinds) {
  std::vector<std::string> names;
  for (const Kind* kind : kinds) names.push_back(kind->name);
  return names;
}

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SPEC_DECLARED_FIELDS_H_
