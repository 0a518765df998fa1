// Cuts tokens, of one or two bytes each, into training and validation samples and says which of them make up a
// micro-batch.
//
// The last `validation_fraction` of the tokens is for validation. A sample is a window of context + 1 tokens; windows
// start every `context` tokens. Sample number n of the run (n = step * global_batch + position in the batch) is place
// Permutation(seed, n / samples)(n % samples): a pure function, so any rank can read any micro-batch of any step.
#ifndef REKINDLE_WORKER_DATA_DATASET_H_
#define REKINDLE_WORKER_DATA_DATASET_H_

#include <cstdint>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "worker/train/model.h"

namespace rekindle::data {

struct DatasetOptions {
  uint64_t seed = 0;
  int context = 0;                 // At least 1.
  int token_bytes = 1;             // 1, or 2: little-endian.
  int global_batch = 0;            // Sequences a step; a multiple of micro_batch.
  int micro_batch = 0;             // At least 1.
  double validation_fraction = 0;  // [0, 0.9]. Above 0, validation has at least one sample.
};

// Immutable, so safe to share between threads. Copies nothing: the tokens must outlive it.
class Dataset {
 public:
  // `tokens`: their bytes. `content_fingerprint`: of all of them. INVALID_ARGUMENT: options out of range, or too few
  // tokens (how many there are and how many are needed).
  static absl::StatusOr<Dataset> Create(std::span<const uint8_t> tokens, const std::string& content_fingerprint,
                                        const DatasetOptions& options);

  // Micro-batch `index` of step `step`. REQUIRES step >= 0, 0 <= index < global_batch / micro_batch.
  train::MicroBatch TrainMicroBatch(int64_t step, int index) const;

  // The fixed validation list; the last one may have fewer sequences. Its order is scattered (by a constant key), so
  // that any first few are a fair sample. REQUIRES 0 <= index < validation_micro_batches().
  train::MicroBatch ValidationMicroBatch(int index) const;
  int validation_micro_batches() const;  // 0 when the fraction is 0.

  int64_t train_samples() const { return train_samples_; }
  int64_t validation_samples() const { return validation_samples_; }

  // Bits a byte of the validation tokens under the training tokens' frequencies, add-one smoothed: what a model that
  // has learned nothing but frequencies reaches. 0 without validation. Reads all tokens.
  double UnigramBitsPerByte() const;

  // XXH3-128, hex, over content, context and split: ranks of one job must have the same.
  const std::string& fingerprint() const { return fingerprint_; }

 private:
  Dataset() = default;
  // Appends window number `place` of `tokens`.
  void AppendWindow(std::span<const uint8_t> tokens, int64_t place, train::MicroBatch* batch) const;

  DatasetOptions options_;
  std::span<const uint8_t> train_;  // Bytes.
  std::span<const uint8_t> validation_;
  int64_t train_samples_ = 0;
  int64_t validation_samples_ = 0;
  std::string fingerprint_;
};

}  // namespace rekindle::data

#endif  // REKINDLE_WORKER_DATA_DATASET_H_
