#include "worker/own_model/model/own_batches.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace rekindle::own_model {

absl::StatusOr<std::unique_ptr<OwnBatches>> OwnBatches::Create(OwnModel& model, const data::BatchShape& shape) {
  const absl::StatusOr<data::SampleOrder> order = data::SampleOrder::Create(model.description().samples, shape);
  if (!order.ok()) return order.status();
  return std::unique_ptr<OwnBatches>(new OwnBatches(model, *order, shape.micro_batch));
}

train::MicroBatch OwnBatches::Train(int64_t step, int index) {
  train::MicroBatch batch{
      .index = index, .samples = order_.Train(step, index), .first = order_.FirstNumber(step, index)};
  batch.sequences = static_cast<int>(batch.samples.size());
  return batch;
}

void OwnBatches::Expect(int64_t step, std::span<const int> indices) {
  std::vector<Samples> expected;
  for (const int index : indices) {
    expected.push_back(
        {.index = index, .first = order_.FirstNumber(step, index), .numbers = order_.Train(step, index)});
  }
  model_.Expect(step, expected);
}

int OwnBatches::validation_micro_batches() const {
  return static_cast<int>((model_.description().validation_samples + micro_batch_ - 1) / micro_batch_);
}

train::MicroBatch OwnBatches::Validation(int index) {
  const int64_t first = int64_t{index} * micro_batch_;
  const int64_t end = std::min(first + micro_batch_, model_.description().validation_samples);
  train::MicroBatch batch{
      .index = index, .samples = std::vector<int64_t>(static_cast<size_t>(end - first)), .first = first};
  std::iota(batch.samples.begin(), batch.samples.end(), first);
  batch.sequences = static_cast<int>(batch.samples.size());
  return batch;
}

}  // namespace rekindle::own_model
