#include "worker/own_model/model/own_batches.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/log/log.h"
#include "kernels/vector/splitmix64.h"
#include "worker/data/samples/permutation.h"

namespace rekindle::own_model {
namespace {

// Data that differ in few samples are found by the checked sample of a step.
constexpr int64_t kHashedSamples = 64;

}  // namespace

absl::StatusOr<std::string> FingerprintOf(OwnModel& model, uint64_t seed, bool exact) {
  const Description& described = model.description();
  std::vector<int64_t> samples(static_cast<size_t>(std::min(described.samples, kHashedSamples)));
  std::iota(samples.begin(), samples.end(), 0);
  if (described.samples > kHashedSamples) {
    const data::Permutation chosen(seed, 0, static_cast<uint64_t>(described.samples));
    for (int64_t& sample : samples) sample = static_cast<int64_t>(chosen(static_cast<uint64_t>(sample)));
  }
  const absl::StatusOr<Hashed> hashed = model.HashSamples(samples);
  if (!hashed.ok()) return hashed.status();
  const std::string sizes = absl::StrCat(described.samples, "+", described.validation_samples);
  if (hashed->not_repeated < 0) return absl::StrCat(sizes, "/", absl::Hex(hashed->hash, absl::kZeroPad16));
  const std::string text = absl::StrCat(
      "data[", hashed->not_repeated,
      "] is another sample when it is read again after a batch was made of it; make it follow from its number and the "
      "seeds of torch, numpy and random, without a clock, os.urandom or a generator that nobody has seeded, and let "
      "collate change copies only");
  if (exact) {
    return absl::InvalidArgumentError(absl::StrCat(text, "; or set training.reduce to fp32, which asks for less"));
  }
  log::Warning(text);
  return sizes;
}

absl::StatusOr<std::unique_ptr<OwnBatches>> OwnBatches::Create(OwnModel& model, const data::BatchShape& shape,
                                                               bool checks_samples) {
  const absl::StatusOr<data::SampleOrder> order = data::SampleOrder::Create(model.description().samples, shape);
  if (!order.ok()) return order.status();
  return std::unique_ptr<OwnBatches>(new OwnBatches(model, *order, shape, checks_samples));
}

int OwnBatches::CheckedPlace(int64_t step) const {
  if (!checks_samples_ || micro_batches() < 2) return -1;
  const uint64_t key = kernels::SplitMix64(shape_.seed ^ kernels::SplitMix64(static_cast<uint64_t>(step)));
  return static_cast<int>(key % static_cast<uint64_t>(shape_.global_batch));
}

train::CheckedSample OwnBatches::Checked(int64_t step) const {
  const int place = CheckedPlace(step);
  if (place < 0) return {};
  const int index = place / shape_.micro_batch, at = place % shape_.micro_batch;
  return {.place = order_.FirstNumber(step, index) + at, .sample = order_.Train(step, index)[static_cast<size_t>(at)]};
}

// Ranks have neighbouring micro-batches, so half a step away another rank reads, unless one has more than half of them.
train::CheckedSample OwnBatches::CheckedBy(int64_t step, int index) const {
  const int place = CheckedPlace(step);
  if (place < 0) return {};
  const int own = place / shape_.micro_batch, other = (own + micro_batches() / 2) % micro_batches();
  return index == own || index == other ? Checked(step) : train::CheckedSample{};
}

train::MicroBatch OwnBatches::Train(int64_t step, int index) {
  train::MicroBatch batch{.index = index,
                          .samples = order_.Train(step, index),
                          .first = order_.FirstNumber(step, index),
                          .checked = CheckedBy(step, index)};
  batch.sequences = static_cast<int>(batch.samples.size());
  return batch;
}

void OwnBatches::Expect(int64_t step, std::span<const int> indices) {
  std::vector<Samples> expected;
  for (const int index : indices) {
    expected.push_back({.index = index,
                        .first = order_.FirstNumber(step, index),
                        .numbers = order_.Train(step, index),
                        .checked = CheckedBy(step, index)});
  }
  model_.Expect(step, expected);
}

int OwnBatches::validation_micro_batches() const {
  const int size = shape_.micro_batch;
  return static_cast<int>((model_.description().validation_samples + size - 1) / size);
}

train::MicroBatch OwnBatches::Validation(int index) {
  const int64_t first = int64_t{index} * shape_.micro_batch;
  const int64_t end = std::min(first + shape_.micro_batch, model_.description().validation_samples);
  train::MicroBatch batch{.index = index, .first = first};
  // A Dataset may be sorted, and an evaluation may read its first micro-batches alone.
  const data::Permutation order = data::ValidationOrder(static_cast<uint64_t>(model_.description().validation_samples));
  for (int64_t at = first; at < end; ++at) {
    batch.samples.push_back(static_cast<int64_t>(order(static_cast<uint64_t>(at))));
  }
  batch.sequences = static_cast<int>(batch.samples.size());
  return batch;
}

}  // namespace rekindle::own_model
