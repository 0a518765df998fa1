// Checks model.weights, a set of weights on this machine that a job starts from. The command checks it because the
// coordinator may not be able to read it.
#ifndef REKINDLE_CLI_JOB_FILE_WEIGHTS_H_
#define REKINDLE_CLI_JOB_FILE_WEIGHTS_H_

#include "absl/status/status.h"
#include "checkpoint/weights/weight_set.h"
#include "cli/shared/context.h"
#include "rekindle/v1/job.pb.h"

namespace rekindle::cli {

// Stands for a weights_digest that is filled in before the job is submitted. It has the length of such a digest.
inline constexpr char kDigestToCome[] = "--------------------------------";

// Checks that the set of weights of a resolved spec fits the model, and that its digest is weights_digest if that is
// given. INVALID_ARGUMENT lists the tensors that are missing, extra or of another shape, or says that the spec means
// another set. Errors of files are returned, too. Each error begins with the field's name. Returns OK for a job without
// weights.
absl::Status CheckWeights(const v1::JobSpec& resolved);

// Checks the weights of a job and fills in their digest. That reads the whole set of weights, so it shows the progress.
// A job whose model is wrong is left as it is, because the coordinator reports what is wrong.
absl::Status PrepareWeights(const Context& context, v1::Job* job);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_JOB_FILE_WEIGHTS_H_
