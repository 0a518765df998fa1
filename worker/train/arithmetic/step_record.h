// Declares what the ranks of a step exchange beside the gradients. Each rank has one small record. The records are
// all-gathered as bytes and combined. Combining is exact, whatever the order and the grouping.
//
//   local record -> EncodeRecord -> all-gather -> DecodeRecord each -> CombineRecords -> CheckWhole
#ifndef REKINDLE_WORKER_TRAIN_ARITHMETIC_STEP_RECORD_H_
#define REKINDLE_WORKER_TRAIN_ARITHMETIC_STEP_RECORD_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "worker/contract/model_interface.h"

namespace rekindle::train {

inline constexpr int32_t kNoMicroBatch = std::numeric_limits<int32_t>::max();

struct StepRecord {
  int64_t step = 0;
  int64_t attempt = 0;
  // `loss` is the summed loss in units of 2^-20 nats. Each micro-batch's loss is limited so that the sum cannot wrap.
  int64_t loss = 0;
  int64_t tokens = 0;
  // `micro_batches` is the number of micro-batches that this record sums up.
  int32_t micro_batches = 0;
  // `micro_batch_check` is the sum of a hash of each micro-batch's index. It shows whether the record holds a
  // micro-batch twice or lacks one.
  uint64_t micro_batch_check = 0;
  // `loss_not_finite` says that a loss was NaN, infinite or beyond the limit. Such a loss is not in `loss`.
  bool loss_not_finite = false;
  // `bad_micro_batch` is the first micro-batch whose loss or gradient was not finite.
  int32_t bad_micro_batch = kNoMicroBatch;
  // `bad_parameter` is the first parameter of `bad_micro_batch` whose gradient was not finite. The value -1 stands for
  // the loss.
  int32_t bad_parameter = -1;
  // `least_whole` and `most_whole` are the smallest and the largest LossSum::whole_buffers of the micro-batches. If
  // they differ, a buffer of whole numbers has no common new value.
  uint64_t least_whole = std::numeric_limits<uint64_t>::max();
  uint64_t most_whole = 0;
  // `least_checked` and `most_checked` are the same for those LossSum::checked_sample that are not 0. If they differ,
  // ranks have read the checked sample differently.
  uint64_t least_checked = std::numeric_limits<uint64_t>::max();
  uint64_t most_checked = 0;
  // `maxima` has one value a parameter, the largest |gradient| of any single micro-batch. Infinity stands for a
  // gradient that is not finite.
  std::vector<float> maxima;
  // `has_gradient` has 1 for each parameter that got a gradient in some micro-batch, else 0. The optimizer leaves the
  // others as they are in this step.
  std::vector<uint8_t> has_gradient;

  // Returns the mean loss in nats a token, or 0 if there are no tokens.
  double MeanLoss() const;
  // Returns whether a loss or gradient was NaN or infinite. Such a step must not be applied.
  bool NotFinite() const;
};

// Returns a record that holds no micro-batches, which is the neutral element of CombineRecords.
StepRecord EmptyRecord(int64_t step, int64_t attempt, size_t parameters);

// Adds the loss of one micro-batch to the record. `micro_batches` is M, the number in the whole step. A loss above
// 2^(42 - ceil(log2 M)) nats counts as not finite.
void AddLoss(int micro_batch, const LossSum& loss, int micro_batches, StepRecord* record);

// Notes that a gradient of `micro_batch` was not finite. `parameter` is the first parameter with such a gradient. If an
// earlier micro-batch is noted already, the record keeps that one.
void AddNotFinite(int micro_batch, int parameter, StepRecord* record);

// Returns the size in bytes of an encoded record with `parameters` parameters.
size_t RecordBytes(size_t parameters);
std::vector<uint8_t> EncodeRecord(const StepRecord& record);
// Decodes a record. Returns INVALID_ARGUMENT unless `bytes` is a record with `parameters` parameters.
absl::Status DecodeRecord(std::span<const uint8_t> bytes, size_t parameters, StepRecord* record);

// Adds `other` to `into`. Returns FAILED_PRECONDITION, and leaves `into` unchanged, when the two differ in step,
// attempt or number of parameters.
absl::Status CombineRecords(const StepRecord& other, StepRecord* into);

// Returns OK when the record holds each of the M micro-batches of the step exactly once. Otherwise returns INTERNAL,
// and the step must not be applied. Returns INVALID_ARGUMENT when the counts of the losses sum to 0.
absl::Status CheckWhole(const StepRecord& record, int micro_batches);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_ARITHMETIC_STEP_RECORD_H_
