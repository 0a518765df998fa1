// The user's Dataset as a source of the engine. A micro-batch has only the numbers of its samples: the model process
// reads them. The order is the engine's, so each sample is read once in a pass over the data, whatever happens to
// workers.
#ifndef REKINDLE_WORKER_OWN_MODEL_MODEL_OWN_BATCHES_H_
#define REKINDLE_WORKER_OWN_MODEL_MODEL_OWN_BATCHES_H_

#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/statusor.h"
#include "worker/contract/batch_source.h"
#include "worker/data/samples/sample_order.h"
#include "worker/own_model/model/own_model.h"

namespace rekindle::own_model {

// OwnBatches is thread-compatible.
class OwnBatches final : public train::BatchSource {
 public:
  // `shape.validation_fraction` must be 0, because a task names its validation data itself. `model` must outlive the
  // OwnBatches. Returns INVALID_ARGUMENT if there are fewer samples than a step has.
  static absl::StatusOr<std::unique_ptr<OwnBatches>> Create(OwnModel& model, const data::BatchShape& shape);

  train::MicroBatch Train(int64_t step, int index) override;
  void Expect(int64_t step, std::span<const int> indices) override;
  train::MicroBatch Validation(int index) override;
  int validation_micro_batches() const override;
  int64_t train_samples() const override { return order_.train_samples(); }

 private:
  OwnBatches(OwnModel& model, const data::SampleOrder& order, int micro_batch)
      : model_(model), order_(order), micro_batch_(micro_batch) {}

  OwnModel& model_;
  const data::SampleOrder order_;
  const int micro_batch_;
};

}  // namespace rekindle::own_model

#endif  // REKINDLE_WORKER_OWN_MODEL_MODEL_OWN_BATCHES_H_
