#include "worker/data/kinds/token_windows.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "worker/data/samples/fingerprint.h"
#include "worker/data/samples/permutation.h"
#include "worker/data/samples/sample_order.h"

namespace rekindle::data {
namespace {

// The key of the validation samples' order never changes, so that validation is the same in every run.

absl::Status CheckOptions(const TokenWindowsOptions& options) {
  if (options.context < 1) {
    return absl::InvalidArgumentError(absl::StrCat("model.context is ", options.context, "; it must be at least 1"));
  }
  return CheckShape({options.seed, options.global_batch, options.micro_batch, options.validation_fraction});
}

using Counts = std::array<int64_t, 256>;

Counts Count(std::span<const uint8_t> tokens) {
  Counts counts = {};
  for (uint8_t token : tokens) ++counts[token];
  return counts;
}

}  // namespace

absl::StatusOr<TokenWindows> TokenWindows::Create(std::span<const uint8_t> tokens,
                                                  const std::string& content_fingerprint,
                                                  const TokenWindowsOptions& options) {
  if (absl::Status status = CheckOptions(options); !status.ok()) return status;
  const int bytes = options.token_bytes;
  int64_t length = static_cast<int64_t>(tokens.size()) / bytes;
  int64_t window = int64_t{options.context} + 1;
  bool validates = options.validation_fraction > 0;
  int64_t needed = validates ? 2 * window : window;
  if (length < needed) {
    return absl::InvalidArgumentError(absl::StrCat("there are ", length, " tokens, but a context of ", options.context,
                                                   " needs at least ", needed, " (a window of ", window,
                                                   " for training", validates ? " and one for validation" : "",
                                                   "); add data or lower model.context"));
  }
  int64_t validation = 0;
  if (validates) {
    int64_t wanted = static_cast<int64_t>(std::floor(static_cast<double>(length) * options.validation_fraction));
    validation = std::clamp(wanted, window, length - window);
  }
  TokenWindows windows;
  windows.options_ = options;
  windows.train_ = tokens.first((length - validation) * bytes);
  windows.validation_ = tokens.subspan((length - validation) * bytes, validation * bytes);
  windows.train_samples_ = (length - validation - 1) / options.context;
  windows.validation_samples_ = validates ? (validation - 1) / options.context : 0;
  std::string identity = absl::StrCat(content_fingerprint, "/", length, "/", options.context, "/", validation);
  windows.fingerprint_ = Fingerprint(identity.data(), identity.size());
  return windows;
}

void TokenWindows::AppendWindow(std::span<const uint8_t> tokens, int64_t place, train::MicroBatch* batch) const {
  const int64_t bytes = options_.token_bytes;
  const auto window = tokens.subspan(place * options_.context * bytes, (options_.context + 1) * bytes);
  for (size_t at = 0; at < window.size(); at += bytes) {
    batch->tokens.push_back(static_cast<uint16_t>(window[at] | (bytes == 2 ? window[at + 1] << 8 : 0)));
  }
  batch->samples.push_back(place);
  ++batch->sequences;
}

train::MicroBatch TokenWindows::TrainMicroBatch(int64_t step, int index) const {
  train::MicroBatch batch{.index = index, .sequences = 0, .context = options_.context};
  batch.tokens.reserve(static_cast<size_t>(options_.micro_batch) * (options_.context + 1));
  const int64_t first = step * options_.global_batch + int64_t{index} * options_.micro_batch;
  batch.first = first;
  for (int64_t n = first; n < first + options_.micro_batch; ++n) {
    Permutation order(options_.seed, n / train_samples_, train_samples_);
    AppendWindow(train_, static_cast<int64_t>(order(n % train_samples_)), &batch);
  }
  return batch;
}

int TokenWindows::validation_micro_batches() const {
  return static_cast<int>((validation_samples_ + options_.micro_batch - 1) / options_.micro_batch);
}

train::MicroBatch TokenWindows::ValidationMicroBatch(int index) const {
  train::MicroBatch batch{.index = index, .sequences = 0, .context = options_.context};
  const int64_t first = int64_t{index} * options_.micro_batch;
  batch.first = first;
  int64_t end = std::min(first + options_.micro_batch, validation_samples_);
  batch.tokens.reserve(static_cast<size_t>(end - first) * (options_.context + 1));
  const Permutation order = ValidationOrder(validation_samples_);
  for (int64_t n = first; n < end; ++n) AppendWindow(validation_, static_cast<int64_t>(order(n)), &batch);
  return batch;
}

double TokenWindows::UnigramBitsPerByte() const {
  if (validation_.empty()) return 0;
  Counts train = Count(train_), validation = Count(validation_);
  double total = static_cast<double>(train_.size()) + 256;
  double bits = 0;
  for (size_t token = 0; token < train.size(); ++token) {
    double probability = (static_cast<double>(train[token]) + 1) / total;
    bits -= static_cast<double>(validation[token]) * std::log2(probability);
  }
  return bits / static_cast<double>(validation_.size());
}

}  // namespace rekindle::data
