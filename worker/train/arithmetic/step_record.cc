#include "worker/train/arithmetic/step_record.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "kernels/vector/splitmix64.h"
#include "worker/numeric/little_endian.h"
#include "worker/train/arithmetic/exact_scale.h"

namespace rekindle::train {
namespace {

// The magic number of an encoded StepRecord spells "RSR4".
constexpr uint32_t kMagic = 0x34525352;
constexpr int kLossUnitLog2 = 20;
constexpr size_t kHeaderBytes = 4 + 4 * 8 + 4 + 8 + 4 + 4 + 4 + 4 * 8 + 4;

// Returns the number of bytes that hold a bit for each parameter.
size_t BitBytes(size_t parameters) { return (parameters + 7) / 8; }

uint64_t HashIndex(int micro_batch) { return kernels::SplitMix64(static_cast<uint64_t>(micro_batch)); }

}  // namespace

double StepRecord::MeanLoss() const {
  return tokens > 0 ? std::ldexp(static_cast<double>(loss), -kLossUnitLog2) / static_cast<double>(tokens) : 0;
}

bool StepRecord::NotFinite() const {
  return loss_not_finite || std::any_of(maxima.begin(), maxima.end(), [](float m) { return !std::isfinite(m); });
}

StepRecord EmptyRecord(int64_t step, int64_t attempt, size_t parameters) {
  return {.step = step,
          .attempt = attempt,
          .maxima = std::vector<float>(parameters),
          .has_gradient = std::vector<uint8_t>(parameters)};
}

void AddLoss(int micro_batch, const LossSum& loss, int micro_batches, StepRecord* record) {
  record->micro_batches += 1;
  record->micro_batch_check += HashIndex(micro_batch);
  record->tokens += loss.count;
  record->least_whole = std::min(record->least_whole, loss.whole_buffers);
  record->most_whole = std::max(record->most_whole, loss.whole_buffers);
  if (loss.checked_sample != 0) {
    record->least_checked = std::min(record->least_checked, loss.checked_sample);
    record->most_checked = std::max(record->most_checked, loss.checked_sample);
  }
  const double fixed = std::nearbyint(std::ldexp(loss.sum, kLossUnitLog2));
  if (std::abs(fixed) <= std::ldexp(1.0, LimitLog2(micro_batches))) {
    record->loss += static_cast<int64_t>(fixed);
  } else {
    record->loss_not_finite = true;
    AddNotFinite(micro_batch, -1, record);
  }
}

void AddNotFinite(int micro_batch, int parameter, StepRecord* record) {
  if (micro_batch > record->bad_micro_batch) return;
  // If several values of one micro-batch are not finite, the record names the loss (-1) rather than a parameter.
  const bool earlier = micro_batch < record->bad_micro_batch;
  record->bad_parameter = earlier ? parameter : std::min(parameter, record->bad_parameter);
  record->bad_micro_batch = micro_batch;
}

size_t RecordBytes(size_t parameters) { return kHeaderBytes + parameters * sizeof(float) + BitBytes(parameters); }

std::vector<uint8_t> EncodeRecord(const StepRecord& record) {
  numeric::RecordWriter out;
  out.Put(kMagic);
  out.Put(record.step);
  out.Put(record.attempt);
  out.Put(record.loss);
  out.Put(record.tokens);
  out.Put(record.micro_batches);
  out.Put(record.micro_batch_check);
  out.Put(static_cast<uint32_t>(record.loss_not_finite));
  out.Put(record.bad_micro_batch);
  out.Put(record.bad_parameter);
  out.Put(record.least_whole);
  out.Put(record.most_whole);
  out.Put(record.least_checked);
  out.Put(record.most_checked);
  out.Put(static_cast<uint32_t>(record.maxima.size()));
  for (float maximum : record.maxima) out.Put(maximum);
  std::vector<uint8_t> bits(BitBytes(record.has_gradient.size()));
  for (size_t p = 0; p < record.has_gradient.size(); ++p)
    bits[p / 8] |= static_cast<uint8_t>(record.has_gradient[p] << p % 8);
  for (uint8_t eight : bits) out.Put(eight);
  return out.Take();
}

absl::Status DecodeRecord(std::span<const uint8_t> bytes, size_t parameters, StepRecord* record) {
  if (bytes.size() != RecordBytes(parameters)) {
    return absl::InvalidArgumentError(absl::StrCat("step record of ", bytes.size(), " bytes, expected ",
                                                   RecordBytes(parameters), " for ", parameters, " parameters"));
  }
  numeric::RecordReader in(bytes);
  uint32_t magic = 0, not_finite = 0, count = 0;
  StepRecord out;
  in.Get(&magic);
  in.Get(&out.step);
  in.Get(&out.attempt);
  in.Get(&out.loss);
  in.Get(&out.tokens);
  in.Get(&out.micro_batches);
  in.Get(&out.micro_batch_check);
  in.Get(&not_finite);
  in.Get(&out.bad_micro_batch);
  in.Get(&out.bad_parameter);
  in.Get(&out.least_whole);
  in.Get(&out.most_whole);
  in.Get(&out.least_checked);
  in.Get(&out.most_checked);
  in.Get(&count);
  if (magic != kMagic || count != parameters || not_finite > 1 || out.micro_batches < 0 || out.tokens < 0 ||
      out.bad_micro_batch < 0 || out.bad_parameter < -1 || out.bad_parameter >= static_cast<int64_t>(parameters)) {
    return absl::InvalidArgumentError("malformed step record: the peer is of another version or sent damaged data");
  }
  out.loss_not_finite = not_finite == 1;
  out.maxima.resize(parameters);
  for (float& maximum : out.maxima) {
    in.Get(&maximum);
    if (!(maximum >= 0)) return absl::InvalidArgumentError("malformed step record: a maximum is negative or NaN");
  }
  out.has_gradient.resize(parameters);
  for (size_t first = 0; first < parameters; first += 8) {
    uint8_t eight = 0;
    in.Get(&eight);
    for (size_t p = first; p < std::min(first + 8, parameters); ++p) out.has_gradient[p] = eight >> (p - first) & 1;
  }
  *record = std::move(out);
  return absl::OkStatus();
}

absl::Status CombineRecords(const StepRecord& other, StepRecord* into) {
  if (other.step != into->step || other.attempt != into->attempt || other.maxima.size() != into->maxima.size()) {
    return absl::FailedPreconditionError(
        absl::StrCat("ranks disagree on the step: ", into->step, " attempt ", into->attempt, " (", into->maxima.size(),
                     " parameters) and ", other.step, " attempt ", other.attempt, " (", other.maxima.size(), ")"));
  }
  // The integers of two records are added as unsigned, so hostile or wrong values wrap in a defined way, and CheckWhole
  // refuses the sums.
  const auto add = [](int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  };
  into->loss = add(into->loss, other.loss);
  into->tokens = add(into->tokens, other.tokens);
  into->micro_batches = static_cast<int32_t>(add(into->micro_batches, other.micro_batches));
  into->micro_batch_check += other.micro_batch_check;
  into->loss_not_finite |= other.loss_not_finite;
  into->least_whole = std::min(into->least_whole, other.least_whole);
  into->most_whole = std::max(into->most_whole, other.most_whole);
  into->least_checked = std::min(into->least_checked, other.least_checked);
  into->most_checked = std::max(into->most_checked, other.most_checked);
  if (other.bad_micro_batch != kNoMicroBatch) AddNotFinite(other.bad_micro_batch, other.bad_parameter, into);
  for (size_t i = 0; i < into->maxima.size(); ++i) {
    into->maxima[i] = std::max(into->maxima[i], other.maxima[i]);
    into->has_gradient[i] |= other.has_gradient[i];
  }
  return absl::OkStatus();
}

absl::Status CheckWhole(const StepRecord& record, int micro_batches) {
  uint64_t check = 0;
  for (int i = 0; i < micro_batches; ++i) check += HashIndex(i);
  if (record.micro_batches != micro_batches || record.micro_batch_check != check || record.tokens < 0) {
    return absl::InternalError(absl::StrCat("the ranks' micro-batches are no partition: ", record.micro_batches, " of ",
                                            micro_batches, ", or one twice and another missing; nothing is applied"));
  }
  if (record.tokens == 0) {
    return absl::InvalidArgumentError(
        "the losses of all its micro-batches have the count 0, so they have no mean; return a count above 0 for some "
        "sample, or leave samples without targets out of the data");
  }
  return absl::OkStatus();
}

}  // namespace rekindle::train
