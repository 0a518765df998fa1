#include "worker/own_model/wire/description.h"

#include <algorithm>
#include <map>
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
constexpr size_t kMostGroups = 1000;
constexpr size_t kMostOptions = 100;
// Nothing in a description lies deeper than this. What does is not kept, because a list in each of a million lists
// would need much more memory than its text.
constexpr int kDeepest = 8;

absl::Status Malformed(const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat("the model process describes the module wrongly: ", what));
}

// Returns a whole number. A number with a fraction, which may be any number of a double, is none.
int64_t WholeOf(const nlohmann::json& value) { return value.get_ref<const nlohmann::json::number_integer_t&>(); }

std::vector<int64_t> ShapeOf(const nlohmann::json& entry) {
  std::vector<int64_t> shape;
  const auto& extents = entry.at("shape").get_ref<const nlohmann::json::array_t&>();
  for (const nlohmann::json& extent : extents) shape.push_back(WholeOf(extent));
  return shape;
}

// Returns whether the name may be shown as it is. A control character could command the terminal that shows it.
bool IsName(const std::string& name) {
  const auto is_control = [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; };
  return !name.empty() && name.size() <= kLongestName && std::none_of(name.begin(), name.end(), is_control);
}

train::BufferRule RuleOf(const std::string& rule) {
  if (rule == "first") return train::BufferRule::kFirst;
  return rule == "frozen" ? train::BufferRule::kFrozen : train::BufferRule::kMean;
}

// Returns whether the type is one of floating numbers that can be trained.
bool IsFloating(const std::string& dtype) { return dtype == "float32" || dtype == "bfloat16" || dtype == "float16"; }

// Returns whether the type is one of whole numbers or bools.
bool IsWhole(const std::string& dtype) {
  static const auto* const kinds = new std::set<std::string>{"bool", "uint8", "int8", "int16", "int32", "int64"};
  return kinds->contains(dtype);
}

// Returns the bytes of an element. A type that is not known here counts as the largest one.
int64_t BytesOf(const std::string& dtype) {
  static const auto* const sizes =
      new std::map<std::string, int64_t>{{"bool", 1},    {"uint8", 1}, {"int8", 1},  {"int16", 2},   {"bfloat16", 2},
                                         {"float16", 2}, {"int32", 4}, {"int64", 8}, {"float32", 4}, {"float64", 8}};
  constexpr int64_t kLargest = 16;
  const auto found = sizes->find(dtype);
  return found == sizes->end() ? kLargest : found->second;
}

// Returns how many elements a tensor has.
absl::StatusOr<int64_t> ElementsOf(const std::string& name, const std::vector<int64_t>& shape) {
  if (!IsName(name) || shape.size() > kMostDimensions) {
    return Malformed("a name is empty, too long or has control characters, or there are too many dimensions");
  }
  int64_t size = 1;
  for (int64_t extent : shape) {
    if (extent < 0 || (extent > 0 && size > kMostElements / extent)) {
      return Malformed(common::Printable(name) + " is too large");
    }
    size *= extent;
  }
  return size;
}

// Adds a parameter or buffer behind those that the layout has.
absl::Status Add(const nlohmann::json& entry, Description* out) {
  train::ParameterLayout* const layout = &out->layout;
  train::ParameterInfo info;
  info.name = entry.at("name").get<std::string>();
  info.shape = ShapeOf(entry);
  info.decay = entry.at("decay").get<bool>();
  info.offset = layout->total;
  const absl::StatusOr<int64_t> size = ElementsOf(info.name, info.shape);
  if (!size.ok()) return size.status();
  info.size = *size;
  const std::string shown = common::Printable(info.name);
  if (info.size < 1 || info.size > kMostElements - layout->total) return Malformed(shown + " is empty or too large");
  const auto dtype = entry.at("dtype").get<std::string>();
  if (WholeOf(entry.at("offset")) != info.offset || WholeOf(entry.at("size")) != info.size) {
    return Malformed(shown + " does not lie behind the one before");
  }
  if (entry.at("kind").get<std::string>() == "buffer") {
    // The statistic of such a buffer is its new value.
    info.momentum = 1;
    info.rule = RuleOf(entry.at("rule").get<std::string>());
    if (!IsFloating(dtype) && !IsWhole(dtype)) return Malformed(shown + " is of no type that buffers may have");
    info.must_agree = IsWhole(dtype) && info.rule == train::BufferRule::kMean;
    if (info.must_agree) info.rule = train::BufferRule::kFirst;
  } else if (!layout->parameters.empty() && layout->parameters.back().is_buffer()) {
    return Malformed(shown + " is a parameter behind a buffer");
  } else if (!IsFloating(dtype)) {
    return Malformed(shown + " is of no type that can be trained");
  }
  layout->total += info.size;
  layout->parameters.push_back(std::move(info));
  out->dtypes.push_back(dtype);
  return absl::OkStatus();
}

absl::Status AddFrozen(const nlohmann::json& entry, Description* out) {
  FrozenParameter frozen{.name = entry.at("name").get<std::string>()};
  const absl::StatusOr<int64_t> size = ElementsOf(frozen.name, ShapeOf(entry));
  if (!size.ok()) return size.status();
  frozen.bytes = *size * BytesOf(entry.at("dtype").get<std::string>());
  out->frozen.push_back(std::move(frozen));
  return absl::OkStatus();
}

absl::Status AddGroup(const nlohmann::json& entry, Description* out) {
  OptimizerGroup group{.pattern = entry.at("pattern").get<std::string>()};
  const nlohmann::json& options = entry.at("options");
  if (group.pattern.empty() || group.pattern.size() > kLongestName || !options.is_object() ||
      options.size() > kMostOptions) {
    return Malformed("a group of the optimizer has no pattern or no list of options");
  }
  for (const auto& [name, value] : options.items()) {
    if (!value.is_primitive()) return Malformed("an option of a group is no single value");
    group.options.emplace_back(common::Printable(name), common::Printable(value.dump()));
  }
  out->groups.push_back(std::move(group));
  return absl::OkStatus();
}

// Adds each entry of a list of at most `most` by `add`.
absl::Status AddAll(const nlohmann::json& list, size_t most, absl::Status (*add)(const nlohmann::json&, Description*),
                    Description* out) {
  if (!list.is_array() || list.size() > most) return Malformed("it has no list, or a list that is too long");
  for (const nlohmann::json& entry : list) {
    if (absl::Status added = add(entry, out); !added.ok()) return added;
  }
  return absl::OkStatus();
}

// Returns whether all names are different.
absl::Status CheckNames(const Description& description) {
  std::set<std::string> names;
  const auto add = [&](const std::string& name) {
    return names.insert(name).second ? absl::OkStatus() : Malformed(common::Printable(name) + " is named twice");
  };
  absl::Status status;
  for (const train::ParameterInfo& info : description.layout.parameters) status.Update(add(info.name));
  for (const FrozenParameter& frozen : description.frozen) status.Update(add(frozen.name));
  return status;
}

absl::Status ParseInto(const nlohmann::json& parsed, Description* out) {
  if (const int64_t protocol = WholeOf(parsed.at("protocol")); protocol != kProtocol) {
    return absl::InvalidArgumentError(absl::StrCat("the package rekindle of this node's Python speaks protocol ",
                                                   protocol, ", the trainer ", kProtocol,
                                                   "; install the same release of both"));
  }
  out->python_version = common::Printable(parsed.at("python").get<std::string>());
  out->torch_version = common::Printable(parsed.at("torch").get<std::string>());
  out->digest = common::Printable(parsed.at("digest").get<std::string>());
  out->samples = WholeOf(parsed.at("samples"));
  out->validation_samples = WholeOf(parsed.at("validation_samples"));
  out->couples_samples = parsed.at("couples_samples").get<bool>();
  // The process reads the buffers when backward is over, because parts of forward may be repeated there.
  out->layout.late_buffers = true;
  absl::Status status = AddAll(parsed.at("layout"), kMostParameters, &Add, out);
  if (status.ok()) status = AddAll(parsed.at("frozen"), kMostParameters, &AddFrozen, out);
  if (status.ok()) status = AddAll(parsed.at("groups"), kMostGroups, &AddGroup, out);
  if (status.ok()) status = CheckNames(*out);
  if (!status.ok()) return status;
  if (out->layout.parameters.empty() || out->layout.parameters.front().is_buffer())
    return Malformed("it has no parameter");
  if (out->samples < 1 || out->validation_samples < 0) return Malformed("the length of its data is not above 0");
  return absl::OkStatus();
}

// Returns whether the parameters have the same names and sizes. A digest alone is the process's own word.
bool IsAlike(const train::ParameterLayout& one, const train::ParameterLayout& other) {
  const auto alike = [](const train::ParameterInfo& a, const train::ParameterInfo& b) {
    return a.name == b.name && a.shape == b.shape && a.momentum == b.momentum && a.rule == b.rule;
  };
  return std::equal(one.parameters.begin(), one.parameters.end(), other.parameters.begin(), other.parameters.end(),
                    alike);
}

}  // namespace

absl::StatusOr<Description> ParseDescription(const std::string& json) {
  const auto is_kept = [](int depth, nlohmann::json::parse_event_t, nlohmann::json&) { return depth <= kDeepest; };
  const nlohmann::json parsed = nlohmann::json::parse(json, is_kept, /*allow_exceptions=*/false);
  if (!parsed.is_object()) return Malformed("it is no JSON object");
  Description description;
  try {
    if (absl::Status status = ParseInto(parsed, &description); !status.ok()) return status;
  } catch (const nlohmann::json::exception& error) {
    return Malformed(common::Printable(error.what()));
  }
  return description;
}

std::string TextOf(const std::vector<OptimizerGroup>& groups) {
  nlohmann::json text = nlohmann::json::array();
  for (const OptimizerGroup& group : groups) text.push_back({group.pattern, group.options});
  constexpr auto kReplace = nlohmann::json::error_handler_t::replace;
  return groups.empty() ? "" : text.dump(-1, ' ', false, kReplace);
}

std::string DifferenceOf(const Description& before, const Description& now) {
  const auto differs = [](const char* what, const auto& then, const auto& today) {
    return absl::StrCat("its ", what, " is ", today, ", and was ", then);
  };
  if (now.torch_version != before.torch_version) return differs("PyTorch", before.torch_version, now.torch_version);
  if (now.python_version != before.python_version) return differs("Python", before.python_version, now.python_version);
  if (!IsAlike(before.layout, now.layout)) return "its parameters or buffers have other names, shapes or rules";
  if (now.digest != before.digest) return differs("digest of weights and buffers", before.digest, now.digest);
  if (now.samples != before.samples) return differs("number of samples", before.samples, now.samples);
  if (now.validation_samples != before.validation_samples) {
    return differs("number of validation samples", before.validation_samples, now.validation_samples);
  }
  if (now.groups != before.groups) {
    return differs("list of groups", common::Printable(TextOf(before.groups)), common::Printable(TextOf(now.groups)));
  }
  if (now.couples_samples != before.couples_samples) return "its couples_samples is another value";
  return "";
}

}  // namespace rekindle::own_model
