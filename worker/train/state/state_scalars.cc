#include "worker/train/state/state_scalars.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "worker/numeric/little_endian.h"
#include "worker/train/arithmetic/exact_scale.h"

namespace rekindle::train {
namespace {

// The magic number of encoded StateScalars spells "RSC4".
constexpr uint32_t kMagic = 0x34435352;
constexpr size_t kMaxParameters = 1 << 20;
constexpr size_t kMaxJsonBytes = 16 << 20;
constexpr int32_t kMaxLossScaleLog2 = 64;

// Checks the rules that scalars must obey in both of their encodings, the binary record and JSON.
absl::Status Check(const StateScalars& scalars) {
  if (scalars.step < 0 || scalars.attempt < 0 || scalars.cursor < 0) {
    return absl::InvalidArgumentError(absl::StrCat("state scalars: negative step ", scalars.step, ", attempt ",
                                                   scalars.attempt, " or cursor ", scalars.cursor));
  }
  const LossScale& scale = scalars.loss_scale;
  if (std::abs(int64_t{scale.log2}) > kMaxLossScaleLog2 || scale.good_steps < 0 || scale.skipped < 0) {
    return absl::InvalidArgumentError(absl::StrCat("state scalars: loss scale 2^", scale.log2, " with ",
                                                   scale.good_steps, " good and ", scale.skipped, " skipped steps"));
  }
  for (int32_t exponent : scalars.exponents) {
    if (exponent < kMinExponent || exponent > kMaxExponent) {
      return absl::InvalidArgumentError(
          absl::StrCat("state scalars: exponent ", exponent, " is outside [", kMinExponent, ", ", kMaxExponent, "]"));
    }
  }
  const std::vector<int64_t>& missed = scalars.missed;
  if (!missed.empty() && missed.size() != scalars.exponents.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("state scalars: missed steps of ", missed.size(), " parameters, not ", scalars.exponents.size()));
  }
  if (std::any_of(missed.begin(), missed.end(), [&](int64_t steps) { return steps < 0 || steps > scalars.step; })) {
    return absl::InvalidArgumentError(
        "state scalars: a parameter missed fewer steps than none, or more than there were");
  }
  if (scalars.levers.size() > kMaxLeverValues) {
    return absl::InvalidArgumentError(
        absl::StrCat("state scalars: ", scalars.levers.size(), " values of levers, at most ", kMaxLeverValues));
  }
  for (const auto& [name, value] : scalars.levers) {
    const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
    });
    if (name.empty() || name.size() > kMaxLeverName || !plain || !std::isfinite(value)) {
      return absl::InvalidArgumentError("state scalars: a lever's value is not finite, or its name no name");
    }
  }
  return absl::OkStatus();
}

bool GetName(numeric::RecordReader& in, std::string* name) {
  uint32_t size = 0;
  if (!in.Get(&size) || size > kMaxLeverName) return false;
  name->resize(size);
  return std::all_of(name->begin(), name->end(), [&](char& c) { return in.Get(&c); });
}

bool GetMissed(numeric::RecordReader& in, std::vector<int64_t>* missed) {
  uint32_t count = 0;
  if (!in.Get(&count) || count > kMaxParameters || in.left() < count * sizeof(int64_t)) return false;
  missed->resize(count);
  return std::all_of(missed->begin(), missed->end(), [&](int64_t& steps) { return in.Get(&steps); });
}

bool GetLevers(numeric::RecordReader& in, LeverState* levers) {
  uint32_t count = 0;
  if (!in.Get(&count) || count > kMaxLeverValues) return false;
  for (uint32_t i = 0; i < count; ++i) {
    std::string name;
    double value = 0;
    if (!GetName(in, &name) || !in.Get(&value)) return false;
    (*levers)[name] = value;
  }
  return levers->size() == count;
}

// Reads the loss scale of a checkpoint. Checkpoints of releases without FP16 have none.
bool ReadLossScale(const nlohmann::json& parsed, LossScale* scale) {
  const auto found = parsed.find("loss_scale");
  if (found == parsed.end()) return true;
  const auto read = [&](const char* key, auto* value, int64_t most) {
    const auto field = found->is_object() ? found->find(key) : found->end();
    if (field == found->end() || !field->is_number_integer()) return false;
    const auto wide = field->template get<int64_t>();
    *value = static_cast<std::remove_pointer_t<decltype(value)>>(wide);
    return wide >= -most && wide <= most;
  };
  return read("log2", &scale->log2, kMaxLossScaleLog2) && read("good_steps", &scale->good_steps, INT32_MAX) &&
         read("skipped", &scale->skipped, INT64_MAX);
}

}  // namespace

std::vector<uint8_t> EncodeScalars(const StateScalars& scalars) {
  numeric::RecordWriter out;
  out.Put(kMagic);
  out.Put(scalars.step);
  out.Put(scalars.attempt);
  out.Put(scalars.cursor);
  out.Put(scalars.loss_scale.skipped);
  out.Put(scalars.loss_scale.log2);
  out.Put(scalars.loss_scale.good_steps);
  out.Put(static_cast<uint32_t>(scalars.exponents.size()));
  for (int32_t exponent : scalars.exponents) out.Put(exponent);
  out.Put(static_cast<uint32_t>(scalars.missed.size()));
  for (int64_t steps : scalars.missed) out.Put(steps);
  out.Put(static_cast<uint32_t>(scalars.levers.size()));
  for (const auto& [name, value] : scalars.levers) {
    out.Put(static_cast<uint32_t>(name.size()));
    for (char c : name) out.Put(c);
    out.Put(value);
  }
  return out.Take();
}

absl::Status DecodeScalars(std::span<const uint8_t> bytes, StateScalars* scalars) {
  numeric::RecordReader in(bytes);
  uint32_t magic = 0, count = 0;
  StateScalars out;
  if (!in.Get(&magic) || !in.Get(&out.step) || !in.Get(&out.attempt) || !in.Get(&out.cursor) ||
      !in.Get(&out.loss_scale.skipped) || !in.Get(&out.loss_scale.log2) || !in.Get(&out.loss_scale.good_steps) ||
      !in.Get(&count) || magic != kMagic || count > kMaxParameters || in.left() < count * sizeof(int32_t)) {
    return absl::InvalidArgumentError(absl::StrCat("state scalars: ", bytes.size(), " bytes are no valid record"));
  }
  out.exponents.resize(count);
  for (int32_t& exponent : out.exponents) in.Get(&exponent);
  if (!GetMissed(in, &out.missed)) {
    return absl::InvalidArgumentError("state scalars: the missed steps are no valid record");
  }
  if (!GetLevers(in, &out.levers) || in.left() != 0) {
    return absl::InvalidArgumentError("state scalars: the values of the levers are no valid record");
  }
  if (absl::Status status = Check(out); !status.ok()) return status;
  *scalars = std::move(out);
  return absl::OkStatus();
}

std::string ScalarsToJson(const StateScalars& scalars) {
  nlohmann::ordered_json json{{"step", scalars.step},
                              {"attempt", scalars.attempt},
                              {"cursor", scalars.cursor},
                              {"exponents", scalars.exponents},
                              {"loss_scale",
                               {{"log2", scalars.loss_scale.log2},
                                {"good_steps", scalars.loss_scale.good_steps},
                                {"skipped", scalars.loss_scale.skipped}}}};
  if (!scalars.missed.empty()) json["missed"] = scalars.missed;
  if (!scalars.levers.empty()) json["levers"] = scalars.levers;
  return json.dump();
}

absl::Status ScalarsFromJson(const std::string& json, StateScalars* scalars) {
  if (json.size() > kMaxJsonBytes) return absl::InvalidArgumentError("state scalars: JSON of more than 16 MiB");
  const nlohmann::json parsed = nlohmann::json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!parsed.is_object()) return absl::InvalidArgumentError("state scalars: not a JSON object");
  StateScalars out;
  for (auto [key, value] : {std::pair{"step", &out.step}, {"attempt", &out.attempt}, {"cursor", &out.cursor}}) {
    const auto found = parsed.find(key);
    if (found == parsed.end() || !found->is_number_integer()) {
      return absl::InvalidArgumentError(absl::StrCat("state scalars: '", key, "' is missing or no integer"));
    }
    *value = found->get<int64_t>();
  }
  if (!ReadLossScale(parsed, &out.loss_scale)) {
    return absl::InvalidArgumentError("state scalars: 'loss_scale' is malformed");
  }
  const auto exponents = parsed.find("exponents");
  if (exponents == parsed.end() || !exponents->is_array() || exponents->size() > kMaxParameters) {
    return absl::InvalidArgumentError("state scalars: 'exponents' is missing, no array or too long");
  }
  for (const nlohmann::json& exponent : *exponents) {
    // The exponent is read as int64 first, because a value beyond int32 must not turn into a valid one.
    const int64_t value = exponent.is_number_integer() ? exponent.get<int64_t>() : INT64_MAX;
    if (value < kMinExponent || value > kMaxExponent) {
      return absl::InvalidArgumentError(absl::StrCat("state scalars: exponent ", exponent.dump(), " is no integer in [",
                                                     kMinExponent, ", ", kMaxExponent, "]"));
    }
    out.exponents.push_back(static_cast<int32_t>(value));
  }
  if (const auto missed = parsed.find("missed"); missed != parsed.end()) {
    if (!missed->is_array() || missed->size() > kMaxParameters) {
      return absl::InvalidArgumentError("state scalars: 'missed' is no array, or too long");
    }
    // What is no integer becomes -1, which Check() refuses.
    for (const nlohmann::json& steps : *missed)
      out.missed.push_back(steps.is_number_integer() ? steps.get<int64_t>() : -1);
  }
  if (const auto levers = parsed.find("levers"); levers != parsed.end()) {
    if (!levers->is_object()) return absl::InvalidArgumentError("state scalars: 'levers' is no object");
    for (const auto& [name, value] : levers->items()) {
      out.levers[name] = value.is_number() ? value.get<double>() : std::nan("");
    }
  }
  if (absl::Status status = Check(out); !status.ok()) return status;
  *scalars = std::move(out);
  return absl::OkStatus();
}

absl::Status CheckFits(const StateScalars& scalars, const ParameterLayout& layout) {
  if (scalars.exponents.size() == layout.parameters.size() && scalars.step >= 0) return absl::OkStatus();
  return absl::InvalidArgumentError("state with " + std::to_string(scalars.exponents.size()) +
                                    " gradient scales is of another model: this one has " +
                                    std::to_string(layout.parameters.size()) + " parameters");
}

}  // namespace rekindle::train
