// What the ranks of a step tell each other beside the gradients: a small record each, all-gathered as bytes and
// combined. Combining is exact, whatever the order and the grouping.
//
//   local record -> EncodeRecord -> all-gather -> DecodeRecord each -> CombineRecords -> CheckWhole
#ifndef REKINDLE_WORKER_TRAIN_STEP_RECORD_H_
#define REKINDLE_WORKER_TRAIN_STEP_RECORD_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "worker/train/model.h"

namespace rekindle::train {

inline constexpr int32_t kNoMicroBatch = std::numeric_limits<int32_t>::max();

struct StepRecord {
  int64_t step = 0;
  int64_t attempt = 0;
  int64_t loss = 0;  // Summed loss in units of 2^-20 nats. Micro-batches are limited so that it cannot wrap.
  int64_t tokens = 0;
  int32_t micro_batches = 0;                // How many are in the sums.
  uint64_t micro_batch_check = 0;           // Sum of a hash of each one's index: none twice, none missing.
  bool loss_not_finite = false;             // A loss was NaN, infinite or beyond the limit; it is not in `loss`.
  int32_t bad_micro_batch = kNoMicroBatch;  // The first whose loss or gradient was not finite,
  int32_t bad_parameter = -1;               // and the first such parameter of it; -1: the loss.
  std::vector<float> maxima;  // Per parameter: largest |gradient| of one micro-batch; infinity: not finite.

  // Mean loss, nats a token; 0 without tokens.
  double MeanLoss() const;
  // A loss or gradient was NaN or infinite: the step must not be applied.
  bool NotFinite() const;
};

// The record of nothing: the neutral element of CombineRecords.
StepRecord EmptyRecord(int64_t step, int64_t attempt, size_t parameters);

// Adds one micro-batch's loss. `micro_batches` is M: a loss above 2^(42 - ceil(log2 M)) nats counts as not finite.
void AddLoss(int micro_batch, const LossSum& loss, int micro_batches, StepRecord* record);

// The first parameter of that micro-batch whose gradient was not finite; kept if no earlier micro-batch has one.
void AddNotFinite(int micro_batch, int parameter, StepRecord* record);

// Bytes of every record with that many parameters.
size_t RecordBytes(size_t parameters);
std::vector<uint8_t> EncodeRecord(const StepRecord& record);
// INVALID_ARGUMENT unless `bytes` is a record with `parameters` parameters.
absl::Status DecodeRecord(std::span<const uint8_t> bytes, size_t parameters, StepRecord* record);

// FAILED_PRECONDITION when they are of different steps, attempts or numbers of parameters; `into` is unchanged then.
absl::Status CombineRecords(const StepRecord& other, StepRecord* into);

// OK when the record holds each of the M micro-batches exactly once. Otherwise INTERNAL: nothing may be applied.
absl::Status CheckWhole(const StepRecord& record, int micro_batches);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_STEP_RECORD_H_
