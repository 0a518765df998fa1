#include "worker/own_model/wire/description.h"

#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/text/printable.h"
#include "worker/own_model/wire/message.h"

namespace rekindle::own_model {
namespace {

constexpr size_t kMostParameters = 1 << 20;
constexpr size_t kLongestName = 1000;
constexpr size_t kMostDimensions = 16;
constexpr int64_t kMostElements = int64_t{1} << 40;

absl::Status Malformed(const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat("the model process describes the module wrongly: ", what));
}

train::BufferRule RuleOf(const std::string& rule) {
  if (rule == "first") return train::BufferRule::kFirst;
  return rule == "frozen" ? train::BufferRule::kFrozen : train::BufferRule::kMean;
}

// Adds a parameter or buffer behind those that the layout has.
absl::Status Add(const nlohmann::json& entry, train::ParameterLayout* layout) {
  train::ParameterInfo info;
  info.name = entry.at("name").get<std::string>();
  info.shape = entry.at("shape").get<std::vector<int64_t>>();
  info.decay = entry.at("decay").get<bool>();
  info.offset = layout->total;
  info.size = 1;
  if (info.name.empty() || info.name.size() > kLongestName || info.shape.size() > kMostDimensions) {
    return Malformed("a name is empty or too long, or there are too many dimensions");
  }
  const std::string shown = common::Printable(info.name);
  for (int64_t extent : info.shape) {
    if (extent < 0 || (extent > 0 && info.size > kMostElements / extent)) return Malformed(shown + " is too large");
    info.size *= extent;
  }
  if (info.size < 1 || info.size > kMostElements - layout->total) return Malformed(shown + " is empty or too large");
  if (entry.at("offset").get<int64_t>() != info.offset || entry.at("size").get<int64_t>() != info.size) {
    return Malformed(shown + " does not lie behind the one before");
  }
  if (entry.at("kind").get<std::string>() == "buffer") {
    // The statistic of such a buffer is its new value.
    info.momentum = 1;
    info.rule = RuleOf(entry.at("rule").get<std::string>());
  } else if (!layout->parameters.empty() && layout->parameters.back().is_buffer()) {
    return Malformed(shown + " is a parameter behind a buffer");
  }
  layout->total += info.size;
  layout->parameters.push_back(std::move(info));
  return absl::OkStatus();
}

absl::Status ParseInto(const nlohmann::json& parsed, Description* out) {
  if (const int protocol = parsed.at("protocol").get<int>(); protocol != kProtocol) {
    return absl::InvalidArgumentError(absl::StrCat("the package rekindle of this node's Python speaks protocol ",
                                                   protocol, ", the trainer ", kProtocol,
                                                   "; install the same release of both"));
  }
  out->python_version = common::Printable(parsed.at("python").get<std::string>());
  out->torch_version = common::Printable(parsed.at("torch").get<std::string>());
  out->digest = common::Printable(parsed.at("digest").get<std::string>());
  out->samples = parsed.at("samples").get<int64_t>();
  out->validation_samples = parsed.at("validation_samples").get<int64_t>();
  out->couples_samples = parsed.at("couples_samples").get<bool>();
  const nlohmann::json& layout = parsed.at("layout");
  if (!layout.is_array() || layout.empty() || layout.size() > kMostParameters) {
    return Malformed("its layout is no list of 1 to 2^20 parameters");
  }
  std::set<std::string> names;
  for (const nlohmann::json& entry : layout) {
    if (absl::Status added = Add(entry, &out->layout); !added.ok()) return added;
    const std::string& name = out->layout.parameters.back().name;
    if (!names.insert(name).second) return Malformed(common::Printable(name) + " is named twice");
  }
  if (out->layout.parameters.front().is_buffer()) return Malformed("it has no parameter");
  if (out->samples < 1 || out->validation_samples < 0) return Malformed("the length of its data is not above 0");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Description> ParseDescription(const std::string& json) {
  const nlohmann::json parsed = nlohmann::json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!parsed.is_object()) return Malformed("it is no JSON object");
  Description description;
  try {
    if (absl::Status status = ParseInto(parsed, &description); !status.ok()) return status;
  } catch (const nlohmann::json::exception& error) {
    return Malformed(common::Printable(error.what()));
  }
  return description;
}

}  // namespace rekindle::own_model
