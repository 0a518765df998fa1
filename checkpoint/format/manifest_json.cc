// Encodes and decodes a manifest as one framed JSON document.
#include <algorithm>
#include <climits>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "checkpoint/format/framed_json.h"
#include "checkpoint/format/manifest.h"
#include "checkpoint/format/manifest_release.h"
#include "checkpoint/format/state_shards.h"
#include "common/text/strict_json.h"

namespace rekindle::checkpoint {
namespace {

using nlohmann::json;

constexpr char kFrame[] = "manifest";

absl::Status Bad(std::string what) { return absl::InvalidArgumentError(absl::StrCat("manifest: ", what)); }

// Reads the fields of one JSON object, each of them once. An unknown field is an error that says that a newer release
// wrote it. The first error is kept.
class Fields {
 public:
  Fields(const json& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object_.is_object()) status_ = Bad(absl::StrCat(where_, " is no object"));
  }

  std::string Text(const char* name) {
    const json* value = Get(name);
    if (value == nullptr) return "";
    if (value->is_string()) return value->get<std::string>();
    Fail(name, "is no string");
    return "";
  }

  int64_t Number(const char* name, int64_t highest) {
    const json* value = Get(name);
    if (value == nullptr) return 0;
    if (value->is_number_unsigned() && value->get<uint64_t>() <= static_cast<uint64_t>(highest)) {
      return value->get<int64_t>();
    }
    Fail(name, absl::StrCat("is no number from 0 to ", highest));
    return 0;
  }
  int Int(const char* name) { return static_cast<int>(Number(name, INT_MAX)); }

  std::optional<double> OptionalReal(const char* name) {
    if (!object_.is_object() || !object_.contains(name)) return std::nullopt;
    const json* value = Get(name);
    if (value == nullptr) return std::nullopt;
    if (value->is_number()) return value->get<double>();
    Fail(name, "is no number");
    return std::nullopt;
  }

  const json* Array(const char* name) {
    const json* value = Get(name);
    if (value == nullptr || value->is_array()) return value;
    Fail(name, "is no array");
    return nullptr;
  }

  // The caller must call Done() after it has read the last field. Done() returns the first error, or an error for an
  // unknown field.
  absl::Status Done() {
    if (!status_.ok() || seen_.size() == object_.size()) return status_;
    auto field = object_.begin();
    while (std::find(seen_.begin(), seen_.end(), field.key()) != seen_.end()) ++field;
    return UnknownField(where_, field.key());
  }

 private:
  const json* Get(const char* name) {
    if (!status_.ok()) return nullptr;
    const auto found = object_.find(name);
    if (found == object_.end()) {
      Fail(name, "is missing");
      return nullptr;
    }
    seen_.push_back(name);
    return &*found;
  }

  void Fail(const char* name, const std::string& what) {
    if (status_.ok()) status_ = Bad(absl::StrCat(where_, ".", name, " ", what));
  }

  const json& object_;
  const std::string where_;
  std::vector<std::string_view> seen_;
  absl::Status status_;
};

absl::StatusOr<ShardRef> DecodeRef(const json& value, const Manifest& manifest, int count) {
  Fields fields(value, "shard");
  ShardRef ref{.generation = manifest.generation, .count = count};
  ref.index = fields.Int("index");
  ref.plane = fields.Int("plane");
  ref.bytes = fields.Number("bytes", kMaxShardBytes);
  ref.xxh3 = fields.Text("xxh3");
  ref.name = absl::StrCat(ref.xxh3, ".safetensors");
  if (absl::Status status = fields.Done(); !status.ok()) return status;
  return ref;
}

absl::StatusOr<TensorInfo> DecodeTensor(const json& value) {
  Fields fields(value, "tensor");
  TensorInfo tensor{.name = fields.Text("name")};
  const json* shape = fields.Array("shape");
  if (absl::Status status = fields.Done(); !status.ok()) return status;
  if (shape->size() > kMaxDimensions)
    return Bad(absl::StrCat("tensor.shape has more than ", kMaxDimensions, " numbers"));
  for (const json& dimension : *shape) {
    if (!dimension.is_number_unsigned() || dimension.get<uint64_t>() > uint64_t{kMaxStateElements}) {
      return Bad(absl::StrCat("tensor.shape is not of numbers from 1 to ", kMaxStateElements));
    }
    tensor.shape.push_back(dimension.get<int64_t>());
  }
  return tensor;
}

absl::Status DecodeShards(const json& shards, int count, Manifest* manifest) {
  if (shards.size() > size_t{kMaxShards} * kMaxPlanes) return Bad(absl::StrCat("more than ", kMaxShards, " shards"));
  manifest->shards.reserve(shards.size());
  for (const json& shard : shards) {
    auto ref = DecodeRef(shard, *manifest, count);
    if (!ref.ok()) return ref.status();
    manifest->shards.push_back(*std::move(ref));
  }
  return absl::OkStatus();
}

absl::Status DecodeTensors(const json& tensors, Manifest* manifest) {
  if (tensors.size() > kMaxTensors) return Bad(absl::StrCat("more than ", kMaxTensors, " tensors"));
  manifest->tensors.reserve(tensors.size());
  for (const json& value : tensors) {
    auto tensor = DecodeTensor(value);
    if (!tensor.ok()) return tensor.status();
    manifest->tensors.push_back(*std::move(tensor));
  }
  return absl::OkStatus();
}

absl::StatusOr<Manifest> DecodeBody(const json& value) {
  Fields fields(value, "manifest");
  Manifest manifest;
  manifest.format = fields.Int("format");
  // The manifest's format is checked before its other fields, because the fields of other formats are not known.
  if (manifest.format > kManifestFormat) {
    return NewerFormat(manifest.format, common::StringOr(value, kNeedsRelease));
  }
  if (manifest.format < kManifestFormat) {
    return Bad(absl::StrCat("format ", manifest.format, "; this version reads ", kManifestFormat));
  }
  manifest.job_uid = fields.Text("job_uid");
  manifest.generation = fields.Int("generation");
  manifest.step = fields.Int("step");
  manifest.writer = fields.Text("writer");
  manifest.state_digest = fields.Text("state_digest");
  manifest.scalars = fields.Text("scalars");
  manifest.spec_digest = fields.Text("spec_digest");
  manifest.loss = fields.OptionalReal("loss");
  manifest.validation_loss = fields.OptionalReal("validation_loss");
  const int count = fields.Int("count");
  const json* shards = fields.Array("shards");
  const json* tensors = fields.Array("tensors");
  absl::Status status = fields.Done();
  if (status.ok()) status = DecodeShards(*shards, count, &manifest);
  if (status.ok()) status = DecodeTensors(*tensors, &manifest);
  if (!status.ok()) return status;
  return manifest;
}

}  // namespace

std::string EncodeManifest(const Manifest& manifest) {
  static_assert(kManifestFormat == 2, "a format above 2 has kNeedsRelease beside it");
  nlohmann::ordered_json body = {{"format", manifest.format},           {"job_uid", manifest.job_uid},
                                 {"generation", manifest.generation},   {"step", manifest.step},
                                 {"writer", manifest.writer},           {"state_digest", manifest.state_digest},
                                 {"spec_digest", manifest.spec_digest}, {"scalars", manifest.scalars}};
  if (manifest.loss.has_value()) body["loss"] = *manifest.loss;
  if (manifest.validation_loss.has_value()) body["validation_loss"] = *manifest.validation_loss;
  body["tensors"] = nlohmann::ordered_json::array();
  for (const TensorInfo& tensor : manifest.tensors) {
    body["tensors"].push_back({{"name", tensor.name}, {"shape", tensor.shape}});
  }
  body["count"] = manifest.shards[0].count;
  body["shards"] = nlohmann::ordered_json::array();
  for (const ShardRef& ref : manifest.shards) {
    body["shards"].push_back({{"index", ref.index}, {"plane", ref.plane}, {"bytes", ref.bytes}, {"xxh3", ref.xxh3}});
  }
  return FrameJson(kFrame, body.dump());
}

absl::StatusOr<Manifest> DecodeManifest(const std::string& text) {
  if (text.size() > kMaxManifestBytes) return Bad(absl::StrCat("more than ", kMaxManifestBytes, " bytes"));
  const auto body = UnframeJson(kFrame, text);
  if (!body.ok()) return body.status();
  const auto document = common::ParseStrictJson(*body);
  if (!document.ok()) return Bad(std::string(document.status().message()));
  auto manifest = DecodeBody(*document);
  if (!manifest.ok()) return manifest.status();
  if (absl::Status status = Validate(*manifest); !status.ok()) return status;
  return manifest;
}

}  // namespace rekindle::checkpoint
