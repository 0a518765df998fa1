// The user's Dataset as a source of the engine. A micro-batch has only the numbers of its samples: the model process
// reads them. The order is the engine's, so each sample is read once in a pass over the data, whatever happens to
// workers.
#ifndef REKINDLE_WORKER_OWN_MODEL_MODEL_OWN_BATCHES_H_
#define REKINDLE_WORKER_OWN_MODEL_MODEL_OWN_BATCHES_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "worker/contract/batch_source.h"
#include "worker/data/samples/sample_order.h"
#include "worker/own_model/model/own_model.h"

namespace rekindle::own_model {

// Returns a hash of some samples of the data, which the seed chooses, and of how many there are. All ranks of a job
// must have the same one. If `exact` is false, numbers that are not whole do not count. Where a sample is not the same
// when it is read again, returns INVALID_ARGUMENT if `exact` is true, and else leaves the samples out. Returns the
// errors of OwnModel::HashSamples().
absl::StatusOr<std::string> FingerprintOf(OwnModel& model, uint64_t seed, bool exact);

// OwnBatches is thread-compatible.
class OwnBatches final : public train::BatchSource {
 public:
  // Two micro-batches of each step have a checked sample if `checks_samples` is true.
  // `shape.validation_fraction` must be 0, because a task names its validation data itself. `model` must outlive the
  // OwnBatches. Returns INVALID_ARGUMENT if there are fewer samples than a step has.
  static absl::StatusOr<std::unique_ptr<OwnBatches>> Create(OwnModel& model, const data::BatchShape& shape,
                                                            bool checks_samples);

  train::MicroBatch Train(int64_t step, int index) override;
  void Expect(int64_t step, std::span<const int> indices) override;
  train::MicroBatch Validation(int index) override;
  int validation_micro_batches() const override;
  int64_t train_samples() const override { return order_.train_samples(); }
  int64_t CheckedSample(int64_t step) const override { return Checked(step).sample; }

 private:
  OwnBatches(OwnModel& model, const data::SampleOrder& order, const data::BatchShape& shape, bool checks_samples)
      : model_(model), order_(order), shape_(shape), checks_samples_(checks_samples) {}

  int micro_batches() const { return shape_.global_batch / shape_.micro_batch; }
  // Returns which place of the step's batch has the checked sample, or -1. The seed and the step decide.
  int CheckedPlace(int64_t step) const;
  train::CheckedSample Checked(int64_t step) const;
  // Returns the checked sample if micro-batch `index` is one of the two that hash it.
  train::CheckedSample CheckedBy(int64_t step, int index) const;

  OwnModel& model_;
  const data::SampleOrder order_;
  const data::BatchShape shape_;
  const bool checks_samples_;
};

}  // namespace rekindle::own_model

#endif  // REKINDLE_WORKER_OWN_MODEL_MODEL_OWN_BATCHES_H_
