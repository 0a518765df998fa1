// Has the settings of a cluster from which the specs of its jobs are filled in.
#ifndef REKINDLE_COORDINATOR_SPEC_DEFAULTS_H_
#define REKINDLE_COORDINATOR_SPEC_DEFAULTS_H_

#include <string>

namespace rekindle::coordinator {

// Holds the cluster's defaults for the fields that a job leaves out.
struct Defaults {
  // The environment variable REKINDLE_DEFAULT_PRECISION sets `precision`.
  std::string precision = "fp32";
  // The environment variable REKINDLE_PRECISION_POLICY sets `precision_policy` to warn, refuse or enforce (`precision`
  // applies to all jobs).
  std::string precision_policy = "warn";
  // `store` is the folder or bucket for checkpoints (common/objects/object_uri.h).
  std::string store;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SPEC_DEFAULTS_H_
