// Finds a job's micro-batch size on this device: each size is tried in a process of its own (micro_batch_trial.h).
#ifndef REKINDLE_WORKER_TRAIN_MICRO_BATCH_PROBE_H_
#define REKINDLE_WORKER_TRAIN_MICRO_BATCH_PROBE_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/train/micro_batch_search.h"

namespace rekindle::train {

struct MicroBatchProbeOptions {
  // The program of a trial and its flags. Behind them come "--try-micro-batch SIZE --memory BYTES --result FILE".
  std::vector<std::string> command;
  std::string result_file;
  int global_batch = 0;
  int at_most = 0;               // 0: the whole batch.
  double memory_bytes = 0;       // This trainer's share of its node; 0: all there is.
  double longest_seconds = 600;  // Of one trial; beyond it a size counts as too much.
  std::function<bool()> cancelled;
};

// Blocks; call it from a thread that outlives it, as its end takes a running trial along. CANCELLED;
// RESOURCE_EXHAUSTED: not even one sample fits; else the error of a trial, which is that of the job's spec or data.
absl::StatusOr<MicroBatchChoice> ProbeMicroBatch(const MicroBatchProbeOptions& options);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_MICRO_BATCH_PROBE_H_
