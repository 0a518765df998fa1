#include "checkpoint/manifest.h"

#include <algorithm>
#include <cctype>
#include <climits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "checkpoint/strict_json.h"
#include "common/hash.h"

namespace rekindle::checkpoint {
namespace {

using nlohmann::json;

constexpr size_t kMaxNameLength = 128;
constexpr size_t kHashDigits = 32;
constexpr char kFrameStart[] = "{\"xxh3\":\"";
constexpr char kFrameMiddle[] = "\",\"manifest\":";
constexpr char kFrameEnd[] = "}\n";

absl::Status Bad(std::string what) { return absl::InvalidArgumentError(absl::StrCat("manifest: ", what)); }

bool IsSafeCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == '-';
}

// Reads one object's fields, each once; unknown ones are an error. The first error sticks.
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

  const json* Array(const char* name) {
    const json* value = Get(name);
    if (value == nullptr || value->is_array()) return value;
    Fail(name, "is no array");
    return nullptr;
  }

  // After the last field.
  absl::Status Done() {
    if (status_.ok() && seen_ != object_.size()) return Bad(absl::StrCat(where_, " has an unknown field"));
    return status_;
  }

 private:
  const json* Get(const char* name) {
    if (!status_.ok()) return nullptr;
    const auto found = object_.find(name);
    if (found == object_.end()) {
      Fail(name, "is missing");
      return nullptr;
    }
    ++seen_;
    return &*found;
  }

  void Fail(const char* name, const std::string& what) {
    if (status_.ok()) status_ = Bad(absl::StrCat(where_, ".", name, " ", what));
  }

  const json& object_;
  const std::string where_;
  size_t seen_ = 0;
  absl::Status status_;
};

absl::StatusOr<ShardRef> DecodeRef(const json& value) {
  Fields fields(value, "shard");
  ShardRef ref;
  ref.name = fields.Text("name");
  ref.bytes = fields.Number("bytes", kMaxShardBytes);
  ref.xxh3 = fields.Text("xxh3");
  ref.generation = fields.Int("generation");
  ref.index = fields.Int("index");
  ref.count = fields.Int("count");
  if (absl::Status status = fields.Done(); !status.ok()) return status;
  return ref;
}

absl::StatusOr<Manifest> DecodeBody(const json& value) {
  Fields fields(value, "manifest");
  Manifest manifest;
  manifest.format = fields.Int("format");
  manifest.job_uid = fields.Text("job_uid");
  manifest.generation = fields.Int("generation");
  manifest.step = fields.Int("step");
  manifest.writer = fields.Text("writer");
  manifest.state_digest = fields.Text("state_digest");
  manifest.scalars = fields.Text("scalars");
  manifest.spec_digest = fields.Text("spec_digest");
  const json* shards = fields.Array("shards");
  if (absl::Status status = fields.Done(); !status.ok()) return status;
  if (shards->size() > kMaxShards) return Bad(absl::StrCat("more than ", kMaxShards, " shards"));
  manifest.shards.reserve(shards->size());
  for (const json& shard : *shards) {
    auto ref = DecodeRef(shard);
    if (!ref.ok()) return ref.status();
    manifest.shards.push_back(*std::move(ref));
  }
  return manifest;
}

absl::Status ValidateShard(const Manifest& manifest, size_t i) {
  const ShardRef& ref = manifest.shards[i];
  const auto bad = [&](std::string what) { return Bad(absl::StrCat("shard ", i, ": ", what)); };
  if (!IsXxh3(ref.xxh3)) return bad("xxh3 is not 32 lower-case hex digits");
  if (ref.name != absl::StrCat(ref.xxh3, ".safetensors")) return bad("it is not named by its hash");
  if (ref.bytes < 1 || ref.bytes > kMaxShardBytes) return bad(absl::StrCat(ref.bytes, " bytes"));
  if (ref.generation != manifest.generation) {
    return bad(absl::StrCat("staged in generation ", ref.generation, ", the manifest is of ", manifest.generation));
  }
  if (ref.count != static_cast<int>(manifest.shards.size())) {
    return bad(absl::StrCat("one of ", ref.count, ", but ", manifest.shards.size(), " are named"));
  }
  if (ref.index != static_cast<int>(i)) return bad(absl::StrCat("its index is ", ref.index));
  return absl::OkStatus();
}

// A number as FormatName writes it: no sign, no leading zero.
bool TakeNumber(std::string_view* text, int* value) {
  const size_t dash = text->find('-');
  if (dash == std::string_view::npos || dash == 0 || dash > 10) return false;
  const std::string digits(text->substr(0, dash));
  if (!std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; })) return false;
  if (digits.size() > 1 && digits[0] == '0') return false;
  if (!absl::SimpleAtoi(digits, value)) return false;
  text->remove_prefix(dash + 1);
  return true;
}

}  // namespace

bool IsSafeName(const std::string& name) {
  return !name.empty() && name.size() <= kMaxNameLength && std::isalnum(static_cast<unsigned char>(name[0])) != 0 &&
         std::all_of(name.begin(), name.end(), IsSafeCharacter);
}

std::string SafeName(const std::string& name) {
  std::string safe;
  for (char c : name) {
    if (safe.empty() && std::isalnum(static_cast<unsigned char>(c)) == 0) continue;
    if (safe.size() < kMaxNameLength) safe.push_back(IsSafeCharacter(c) ? c : '_');
  }
  return safe.empty() ? "writer" : safe;
}

bool IsXxh3(const std::string& text) {
  std::array<uint8_t, kHashDigits / 2> bytes;
  return common::HexDecode(text, bytes);
}

std::string FormatName(const ManifestName& name) {
  return absl::StrCat(name.generation, "-", name.step, "-", name.writer);
}

absl::StatusOr<ManifestName> ParseName(const std::string& text) {
  ManifestName name;
  std::string_view rest = text;
  if (TakeNumber(&rest, &name.generation) && TakeNumber(&rest, &name.step) && IsSafeName(std::string(rest))) {
    name.writer = std::string(rest);
    return name;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("'", text.substr(0, 160), "' is no checkpoint's name: <generation>-<step>-<writer>"));
}

ManifestName NameOf(const Manifest& manifest) { return {manifest.generation, manifest.step, manifest.writer}; }

absl::Status Validate(const Manifest& manifest) {
  if (manifest.format != kManifestFormat) {
    return Bad(absl::StrCat("format ", manifest.format, "; this version reads ", kManifestFormat));
  }
  if (!IsSafeName(manifest.job_uid)) return Bad("job_uid is not 1 to 128 of A-Z a-z 0-9 . _ -");
  if (!IsSafeName(manifest.writer)) return Bad("writer is not 1 to 128 of A-Z a-z 0-9 . _ -");
  if (manifest.generation < 0) return Bad("generation is negative");
  if (manifest.step < 0) return Bad("step is negative");
  if (manifest.shards.empty()) return Bad("it names no shard");
  if (manifest.shards.size() > kMaxShards) return Bad(absl::StrCat("more than ", kMaxShards, " shards"));
  for (size_t i = 0; i < manifest.shards.size(); ++i) {
    if (absl::Status status = ValidateShard(manifest, i); !status.ok()) return status;
  }
  for (const std::string* digest : {&manifest.state_digest, &manifest.spec_digest}) {
    if (!digest->empty() && !IsSafeName(*digest)) return Bad("a digest is no name");
  }
  if (manifest.scalars.size() > kMaxManifestBytes / 4) return Bad("scalars are too long");
  if (!manifest.scalars.empty() && !json::accept(manifest.scalars)) return Bad("scalars are not JSON");
  return absl::OkStatus();
}

std::string EncodeManifest(const Manifest& manifest) {
  nlohmann::ordered_json body = {{"format", manifest.format},           {"job_uid", manifest.job_uid},
                                 {"generation", manifest.generation},   {"step", manifest.step},
                                 {"writer", manifest.writer},           {"state_digest", manifest.state_digest},
                                 {"spec_digest", manifest.spec_digest}, {"scalars", manifest.scalars}};
  body["shards"] = nlohmann::ordered_json::array();
  for (const ShardRef& ref : manifest.shards) {
    body["shards"].push_back({{"name", ref.name},
                              {"bytes", ref.bytes},
                              {"xxh3", ref.xxh3},
                              {"generation", ref.generation},
                              {"index", ref.index},
                              {"count", ref.count}});
  }
  const std::string text = body.dump();
  return absl::StrCat(kFrameStart, common::Xxh3_128Hex(text), kFrameMiddle, text, kFrameEnd);
}

absl::StatusOr<Manifest> DecodeManifest(const std::string& text) {
  if (text.size() > kMaxManifestBytes) return Bad(absl::StrCat("more than ", kMaxManifestBytes, " bytes"));
  // Framed by literal text, so that no byte of the file can change unseen.
  constexpr size_t kStart = sizeof(kFrameStart) - 1;
  constexpr size_t kBody = kStart + kHashDigits + sizeof(kFrameMiddle) - 1;
  constexpr size_t kEnd = sizeof(kFrameEnd) - 1;
  const std::string_view view = text;
  if (view.size() < kBody + kEnd || view.substr(0, kStart) != kFrameStart ||
      view.substr(kStart + kHashDigits, kBody - kStart - kHashDigits) != kFrameMiddle ||
      view.substr(view.size() - kEnd) != kFrameEnd) {
    return absl::DataLossError("manifest: truncated or damaged: its frame is wrong");
  }
  const std::string_view body = view.substr(kBody, view.size() - kBody - kEnd);
  if (common::Xxh3_128Hex(body) != view.substr(kStart, kHashDigits)) {
    return absl::DataLossError("manifest: damaged: its checksum is wrong");
  }
  const auto document = ParseStrictJson(body);
  if (!document.ok()) return Bad(std::string(document.status().message()));
  auto manifest = DecodeBody(*document);
  if (!manifest.ok()) return manifest.status();
  if (absl::Status status = Validate(*manifest); !status.ok()) return status;
  return manifest;
}

std::array<uint8_t, kShardRecordBytes> EncodeShardRef(const ShardRef& ref) {
  std::array<uint8_t, kShardRecordBytes> record{};
  const auto put = [&](size_t at, uint64_t value, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) record[at + i] = static_cast<uint8_t>(value >> (8 * i));
  };
  common::HexDecode(ref.xxh3, std::span(record).first(16));
  put(16, static_cast<uint64_t>(ref.bytes), 8);
  put(24, static_cast<uint32_t>(ref.generation), 4);
  put(28, static_cast<uint32_t>(ref.index), 4);
  put(32, static_cast<uint32_t>(ref.count), 4);
  return record;
}

absl::StatusOr<ShardRef> DecodeShardRef(const uint8_t* record) {
  const auto get = [&](size_t at, size_t bytes) {
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; ++i) value |= static_cast<uint64_t>(record[at + i]) << (8 * i);
    return value;
  };
  if (std::all_of(record, record + kShardRecordBytes, [](uint8_t byte) { return byte == 0; })) return ShardRef{};
  ShardRef ref;
  ref.xxh3 = common::HexEncode({record, 16});
  ref.name = absl::StrCat(ref.xxh3, ".safetensors");
  const uint64_t bytes = get(16, 8);
  const uint64_t generation = get(24, 4), index = get(28, 4), count = get(32, 4);
  if (bytes < 1 || bytes > kMaxShardBytes || generation > INT_MAX || count < 1 || count > kMaxShards ||
      index >= count || get(36, 4) != 0) {
    return absl::InvalidArgumentError("a rank sent a malformed shard record");
  }
  ref.bytes = static_cast<int64_t>(bytes);
  ref.generation = static_cast<int>(generation);
  ref.index = static_cast<int>(index);
  ref.count = static_cast<int>(count);
  return ref;
}

}  // namespace rekindle::checkpoint
