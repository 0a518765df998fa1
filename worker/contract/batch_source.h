// Declares where a job's micro-batches come from. A micro-batch is a pure function of (step, index), so every rank gets
// the same samples for an index.
#ifndef REKINDLE_WORKER_CONTRACT_BATCH_SOURCE_H_
#define REKINDLE_WORKER_CONTRACT_BATCH_SOURCE_H_

#include <cstdint>
#include <span>

#include "worker/contract/model_interface.h"

namespace rekindle::train {

// BatchSource is thread-compatible.
class BatchSource {
 public:
  virtual ~BatchSource() = default;
  virtual MicroBatch Train(int64_t step, int index) = 0;
  // Says which micro-batches of the step will be read next, in this order. A source may prepare them, and may do
  // nothing.
  virtual void Expect(int64_t /*step*/, std::span<const int> /*indices*/) {}
  // Returns the sample that two micro-batches of the step have as MicroBatch::checked. It is -1 if there is none.
  virtual int64_t CheckedSample(int64_t /*step*/) const { return -1; }
  // Returns a micro-batch of the validation data. The caller must pass an `index` below validation_micro_batches().
  virtual MicroBatch Validation(int index) = 0;
  virtual int validation_micro_batches() const = 0;
  // Returns the number of samples in one epoch.
  virtual int64_t train_samples() const = 0;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_CONTRACT_BATCH_SOURCE_H_
