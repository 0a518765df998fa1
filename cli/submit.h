// What the verbs that start a job share.
#ifndef REKINDLE_CLI_SUBMIT_H_
#define REKINDLE_CLI_SUBMIT_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/context.h"
#include "rekindle/v1/job.pb.h"

namespace rekindle::cli {

// With absolute paths: those in a job file are relative to it.
absl::StatusOr<v1::Job> ReadJobFile(const std::string& path);

// For a job with model.weights: compares that set with the model, and fills in its digest. INVALID_ARGUMENT lists the
// tensors that are missing, extra or of another shape; or says that the set is not the one that the digest is of.
absl::Status PrepareWeights(Context& context, v1::Job* job);

// Submits and prints it; with `wait` shows progress until it has ended, which is an error unless it succeeded.
absl::Status SubmitJob(Context& context, const v1::Job& job, bool wait);

void PrintJob(const Context& context, const v1::Job& job);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_SUBMIT_H_
