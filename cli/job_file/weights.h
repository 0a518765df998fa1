// model.weights: a set of weights on this machine that a job starts from. The command looks at it, as the coordinator
// may not see it.
#ifndef REKINDLE_CLI_JOB_FILE_WEIGHTS_H_
#define REKINDLE_CLI_JOB_FILE_WEIGHTS_H_

#include "absl/status/status.h"
#include "checkpoint/weight_set.h"
#include "cli/context.h"
#include "rekindle/v1/job.pb.h"

namespace rekindle::cli {

// Stands for a weights_digest that is filled in before the job is submitted; as long as one.
inline constexpr char kDigestToCome[] = "--------------------------------";

// Whether the set of a resolved spec fits its model, and is the one that weights_digest is of where that is given.
// INVALID_ARGUMENT lists the tensors that are missing, extra or of another shape, or says that it is another set; the
// errors of files. Each begins with the field's name. OK for a job without weights.
absl::Status CheckWeights(const v1::JobSpec& resolved);

// Checks the weights, too, and fills in the digest, which takes reading all of it: shows how far it is. A job whose
// model is wrong is left as it is: that is for the coordinator to say.
absl::Status PrepareWeights(const Context& context, v1::Job* job);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_JOB_FILE_WEIGHTS_H_
