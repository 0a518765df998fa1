// Finds the micro-batch size that needs the least time per sample and fits the memory. The search is pure: a function
// that is passed in measures the cost of each size.
#ifndef REKINDLE_WORKER_TRAIN_MICRO_BATCH_SEARCH_H_
#define REKINDLE_WORKER_TRAIN_MICRO_BATCH_SEARCH_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"

namespace rekindle::train {

// MicroBatchTrial is what was measured when one micro-batch size was tried.
struct MicroBatchTrial {
  // `bytes` is the peak of the memory that the trial used.
  double bytes = 0;
  // `seconds` is the time of a forward and backward of the micro-batch.
  double seconds = 0;
  // `refused` is set if the trial ran out of memory. It says how that was noticed.
  std::string refused;
};

struct MicroBatchBounds {
  // Only micro-batch sizes that divide `global_batch` are tried.
  int global_batch = 0;
  // `at_most` is the largest micro-batch size that may be tried, and it must be at least 1.
  int at_most = 0;
  // `bytes` is the memory that a micro-batch may need, after the head-room was taken off.
  double bytes = 0;
};

struct MicroBatchChoice {
  int micro_batch = 0;
  // `reason` says why the micro-batch is not larger: "32 would need 9.1 GB of 8.0 GB".
  std::string reason;
};

// Searches for the best micro-batch size. Doubles the size from one sample until a size does not fit, or until two
// sizes in a row are no faster per sample than a smaller one. Then bisects between the largest size that fits and the
// smallest that does not. Among sizes that are about as fast (within 3 %), the search takes the smallest, which leaves
// the most micro-batches to distribute. Returns RESOURCE_EXHAUSTED if not even one sample fits. An error of `trial`
// ends the search.
absl::StatusOr<MicroBatchChoice> SearchMicroBatch(const MicroBatchBounds& bounds,
                                                  const std::function<absl::StatusOr<MicroBatchTrial>(int)>& trial);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_MICRO_BATCH_SEARCH_H_
