// Cuts tokens of one or two bytes each into training and validation samples, and says which samples make up a
// micro-batch.
//
// The last `validation_fraction` of the tokens is for validation. A sample is a window of context + 1 tokens, and
// windows start every `context` tokens. Sample number n of the run (n = step * global_batch + position in the batch) is
// window Permutation(seed, n / samples)(n % samples). The order is a pure function, so any rank can read any
// micro-batch of any step.
#ifndef REKINDLE_WORKER_DATA_KINDS_TOKEN_WINDOWS_H_
#define REKINDLE_WORKER_DATA_KINDS_TOKEN_WINDOWS_H_

#include <cstdint>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "worker/contract/model_interface.h"

namespace rekindle::data {

struct TokenWindowsOptions {
  uint64_t seed = 0;
  // `context` is the number of tokens of a sample that a model reads, at least 1.
  int context = 0;
  // `token_bytes` is 1 or 2. Tokens of 2 bytes are little-endian.
  int token_bytes = 1;
  // `global_batch` is the number of sequences a step. It is a multiple of `micro_batch`.
  int global_batch = 0;
  // `micro_batch` is the number of sequences of a micro-batch, at least 1.
  int micro_batch = 0;
  // `validation_fraction` of all tokens are for validation, from 0 to kMostValidationFraction. If it is above 0, there
  // is at least one validation sample.
  double validation_fraction = 0;
};

// Reads windows of tokens. The class is immutable, so threads may share it. It copies nothing, so the tokens must
// outlive it.
class TokenWindows {
 public:
  // `tokens` are the bytes of the tokens. `content_fingerprint` is the fingerprint of all of them. Returns
  // INVALID_ARGUMENT if options are out of range or if there are too few tokens (and says how many there are and how
  // many are needed).
  static absl::StatusOr<TokenWindows> Create(std::span<const uint8_t> tokens, const std::string& content_fingerprint,
                                             const TokenWindowsOptions& options);

  // Returns micro-batch `index` of step `step`. REQUIRES: step >= 0, and 0 <= index < global_batch / micro_batch.
  train::MicroBatch TrainMicroBatch(int64_t step, int index) const;

  // Returns one micro-batch of the fixed validation list. The list's last micro-batch may have fewer sequences. A
  // constant key scatters the order of the list, so that its first few micro-batches are a fair sample. REQUIRES: 0 <=
  // index < validation_micro_batches().
  train::MicroBatch ValidationMicroBatch(int index) const;
  // Returns the number of micro-batches for validation, which is 0 if the validation fraction is 0.
  int validation_micro_batches() const;

  int64_t train_samples() const { return train_samples_; }
  int64_t validation_samples() const { return validation_samples_; }

  // Returns the bits per byte of the validation tokens under the frequencies of the training tokens, with add-one
  // smoothing. A model that has learned only how frequent tokens are reaches this value. Returns 0 without validation.
  // The call reads all tokens.
  double UnigramBitsPerByte() const;

  // Returns the XXH3-128, in hex, of the content, the context and the split. All ranks of a job must have the same
  // fingerprint.
  const std::string& fingerprint() const { return fingerprint_; }

 private:
  TokenWindows() = default;
  // Appends window number `place` of `tokens` to `batch`.
  void AppendWindow(std::span<const uint8_t> tokens, int64_t place, train::MicroBatch* batch) const;

  TokenWindowsOptions options_;
  // `train_` and `validation_` are the bytes of the tokens for training and for validation.
  std::span<const uint8_t> train_;
  std::span<const uint8_t> validation_;
  int64_t train_samples_ = 0;
  int64_t validation_samples_ = 0;
  std::string fingerprint_;
};

}  // namespace rekindle::data

#endif  // REKINDLE_WORKER_DATA_KINDS_TOKEN_WINDOWS_H_
