// Finds the micro-batch size that is fastest a sample and fits the memory. Pure: what a size costs is told by whoever
// tries it.
#ifndef REKINDLE_WORKER_TRAIN_MICRO_BATCH_SEARCH_H_
#define REKINDLE_WORKER_TRAIN_MICRO_BATCH_SEARCH_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"

namespace rekindle::train {

// What became of one size.
struct MicroBatchTrial {
  double bytes = 0;     // Of memory, at its peak.
  double seconds = 0;   // A forward and backward of the micro-batch.
  std::string refused;  // Not empty: it ran out of memory, and how that was seen.
};

struct MicroBatchBounds {
  int global_batch = 0;  // Only sizes that divide it.
  int at_most = 0;       // >= 1
  double bytes = 0;      // Memory that may be used; head-room is taken off already.
};

struct MicroBatchChoice {
  int micro_batch = 0;
  std::string reason;  // Why not more: "32 would need 9.1 GB of 8.0 GB".
};

// Doubles from one sample until a size does not fit, or two in a row are no faster a sample than a smaller one; then
// bisects between the last that fits and the first that does not. Of sizes about as fast (3 %) the smallest: it leaves
// the most micro-batches to deal out. RESOURCE_EXHAUSTED: not even one sample fits. Errors of `trial` end the search.
absl::StatusOr<MicroBatchChoice> SearchMicroBatch(const MicroBatchBounds& bounds,
                                                  const std::function<absl::StatusOr<MicroBatchTrial>(int)>& trial);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_MICRO_BATCH_SEARCH_H_
