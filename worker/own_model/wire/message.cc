#include "worker/own_model/wire/message.h"
#include "common/agreed/agreed_limits.h"

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/text/printable.h"
#include "worker/numeric/little_endian.h"

namespace rekindle::own_model {
namespace {

using numeric::RecordReader;
using numeric::RecordWriter;

// A message of the user's code is cut to this number of bytes.
constexpr size_t kLongestMessage = 2000;

absl::Status Malformed(const char* what) {
  return absl::InvalidArgumentError(
      absl::StrCat("the model process sent a malformed message (", what, "): it is of another release, or damaged"));
}

void Put(const Samples& samples, RecordWriter* out) {
  out->Put(samples.index);
  out->Put(static_cast<uint32_t>(samples.numbers.size()));
  out->Put(samples.first);
  out->Put(samples.checked.place);
  out->Put(samples.checked.sample);
  for (int64_t number : samples.numbers) out->Put(number);
}

bool IsLoss(double sum, int64_t count) { return count >= 0 && count <= kMostCount && !(count == 0 && sum != 0); }

}  // namespace

std::vector<uint8_t> EncodeBind(uint64_t offset, uint64_t bytes) {
  RecordWriter out;
  out.Put(offset);
  out.Put(bytes);
  return out.Take();
}

std::vector<uint8_t> EncodeSlots(uint32_t slots, uint64_t slot_bytes) {
  RecordWriter out;
  out.Put(slots);
  out.Put(slot_bytes);
  return out.Take();
}

std::vector<uint8_t> EncodeInitialize(uint32_t slot) {
  RecordWriter out;
  out.Put(slot);
  return out.Take();
}

std::vector<uint8_t> EncodeExpect(int64_t step, std::span<const Samples> micro_batches) {
  RecordWriter out;
  out.Put(step);
  out.Put(static_cast<uint32_t>(micro_batches.size()));
  for (const Samples& samples : micro_batches) Put(samples, &out);
  return out.Take();
}

std::vector<uint8_t> EncodeCompute(const ComputeRequest& request) {
  RecordWriter out;
  out.Put(request.request);
  out.Put(request.step);
  out.Put(request.samples.index);
  out.Put(request.slot);
  out.Put(request.loss_scale);
  out.Put(request.samples.first);
  out.Put(request.samples.checked.place);
  out.Put(request.samples.checked.sample);
  out.Put(static_cast<uint32_t>(request.samples.numbers.size()));
  for (int64_t number : request.samples.numbers) out.Put(number);
  return out.Take();
}

std::vector<uint8_t> EncodeEvaluate(uint64_t request, const Samples& samples) {
  RecordWriter out;
  out.Put(request);
  out.Put(samples.index);
  out.Put(static_cast<uint32_t>(samples.numbers.size()));
  for (int64_t number : samples.numbers) out.Put(number);
  return out.Take();
}

std::vector<uint8_t> EncodeHash(uint64_t request, std::span<const int64_t> samples) {
  RecordWriter out;
  out.Put(request);
  out.Put(static_cast<uint32_t>(samples.size()));
  for (const int64_t number : samples) out.Put(number);
  return out.Take();
}

std::vector<uint8_t> EncodePing(uint64_t token) {
  RecordWriter out;
  out.Put(token);
  return out.Take();
}

absl::StatusOr<Gradients> DecodeGradients(std::span<const uint8_t> body, size_t parameters) {
  RecordReader in(body);
  Gradients out;
  uint32_t count = 0;
  if (!in.Get(&out.request) || !in.Get(&count) || count > parameters || in.left() != count * sizeof(uint32_t)) {
    return Malformed("gradients");
  }
  out.parameters.resize(count);
  for (uint32_t& parameter : out.parameters) {
    in.Get(&parameter);
    if (parameter >= parameters) return Malformed("a gradient of no parameter");
  }
  return out;
}

absl::StatusOr<Done> DecodeDone(std::span<const uint8_t> body) {
  RecordReader in(body);
  Done out;
  if (!in.Get(&out.request) || !in.Get(&out.loss_sum) || !in.Get(&out.count) || !in.Get(&out.whole_buffers) ||
      !in.Get(&out.seconds) || !in.Get(&out.data_seconds) || !in.Get(&out.checked_sample) || in.left() != 0 ||
      !IsLoss(out.loss_sum, out.count) || !(out.seconds >= 0) || !(out.data_seconds >= 0)) {
    return Malformed("the end of a micro-batch");
  }
  return out;
}

absl::StatusOr<Evaluated> DecodeEvaluated(std::span<const uint8_t> body) {
  RecordReader in(body);
  Evaluated out;
  if (!in.Get(&out.request) || !in.Get(&out.loss_sum) || !in.Get(&out.count) || in.left() != 0 ||
      !IsLoss(out.loss_sum, out.count)) {
    return Malformed("the end of an evaluation");
  }
  return out;
}

absl::StatusOr<Hashed> DecodeHashed(std::span<const uint8_t> body) {
  RecordReader in(body);
  Hashed out;
  if (!in.Get(&out.request) || !in.Get(&out.hash) || !in.Get(&out.not_repeated) || in.left() != 0 ||
      out.not_repeated < -1) {
    return Malformed("the hash of samples");
  }
  return out;
}

absl::StatusOr<Pong> DecodePong(std::span<const uint8_t> body) {
  RecordReader in(body);
  Pong out;
  uint64_t state = 0;
  if (!in.Get(&out.token) || !in.Get(&out.cpu_seconds) || !in.Get(&state) || in.left() != 0 ||
      state > static_cast<uint64_t>(Pong::State::kLoads)) {
    return Malformed("an answer to a ping");
  }
  out.state = static_cast<Pong::State>(state);
  return out;
}

absl::StatusOr<Failed> DecodeFailed(const std::string& json) {
  static const auto* const kinds = new std::map<std::string, Failed::Kind>{
      {"exception", Failed::Kind::kException}, {"memory", Failed::Kind::kMemory}, {"data", Failed::Kind::kData},
      {"task", Failed::Kind::kTask},           {"loss", Failed::Kind::kLoss},     {"write", Failed::Kind::kWrite},
      {"shape", Failed::Kind::kShape}};
  const nlohmann::json parsed = nlohmann::json::parse(json, nullptr, /*allow_exceptions=*/false);
  const auto text = [&](const char* name) {
    const auto found = parsed.is_object() ? parsed.find(name) : parsed.end();
    const bool is_text = parsed.is_object() && found != parsed.end() && found->is_string();
    return is_text ? found->get<std::string>() : std::string();
  };
  const auto kind = kinds->find(text("kind"));
  if (kind == kinds->end() || text("message").empty()) return Malformed("a failure");
  Failed out{.kind = kind->second, .message = common::Printable(text("message"), kLongestMessage)};
  // The lines of a traceback stay lines. What is in them cannot be trusted to be printable.
  const std::string traceback = text("traceback");
  for (size_t from = 0; from < traceback.size() && out.traceback.size() < common::kLongestTraceback;) {
    const size_t end = std::min(traceback.find('\n', from), traceback.size());
    absl::StrAppend(&out.traceback, common::Printable(traceback.substr(from, end - from), kLongestMessage), "\n");
    from = end + 1;
  }
  return out;
}

}  // namespace rekindle::own_model
