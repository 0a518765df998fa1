#include "checkpoint/format/manifest.h"

#include <algorithm>
#include <cctype>
#include <climits>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "checkpoint/format/manifest_release.h"
#include "checkpoint/format/state_shards.h"
#include "common/digest/hash.h"

namespace rekindle::checkpoint {
namespace {

using nlohmann::json;

constexpr size_t kMaxNameLength = 128;
constexpr size_t kHashDigits = 32;
constexpr char kShardSuffix[] = ".safetensors";

absl::Status Bad(std::string what) { return absl::InvalidArgumentError(absl::StrCat("manifest: ", what)); }

bool IsSafeCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == '-';
}

absl::Status ValidateShard(const Manifest& manifest, size_t i, size_t planes) {
  const ShardRef& ref = manifest.shards[i];
  const auto bad = [&](std::string what) { return Bad(absl::StrCat("shard ", i, ": ", what)); };
  if (!IsXxh3(ref.xxh3)) return bad("xxh3 is not 32 lower-case hex digits");
  if (ref.name != absl::StrCat(ref.xxh3, kShardSuffix)) return bad("it is not named by its hash");
  if (ref.bytes < 1 || ref.bytes > kMaxShardBytes) return bad(absl::StrCat(ref.bytes, " bytes"));
  if (ref.generation != manifest.generation) {
    return bad(absl::StrCat("staged in generation ", ref.generation, ", the manifest is of ", manifest.generation));
  }
  if (ref.count != manifest.shards[0].count) return bad(absl::StrCat("one of ", ref.count, " shards"));
  if (ref.index != static_cast<int>(i / planes) || ref.plane != static_cast<int>(i % planes)) {
    return bad(absl::StrCat("it is plane ", ref.plane, " of index ", ref.index));
  }
  return absl::OkStatus();
}

absl::Status ValidateShards(const Manifest& manifest) {
  const size_t named = manifest.shards.size();
  if (named == 0) return Bad("it names no shard");
  const int count = manifest.shards[0].count;
  if (count < 1 || count > kMaxShards) return Bad(absl::StrCat(count, " shards; 1 to ", kMaxShards, " are possible"));
  const size_t planes = named / static_cast<size_t>(count);
  if (named % static_cast<size_t>(count) != 0 || planes < 1 || planes > kMaxPlanes) {
    return Bad(absl::StrCat("it names ", named, " files of ", count, " shards, which have one plane or two each"));
  }
  for (size_t i = 0; i < named; ++i) {
    if (absl::Status status = ValidateShard(manifest, i, planes); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status ValidateTensors(const Manifest& manifest) {
  if (manifest.tensors.size() > kMaxTensors) return Bad(absl::StrCat("more than ", kMaxTensors, " tensors"));
  std::set<std::string> names;
  int64_t total = 0;
  for (const TensorInfo& tensor : manifest.tensors) {
    const bool printable =
        std::all_of(tensor.name.begin(), tensor.name.end(), [](char c) { return c > ' ' && c < 127; });
    if (tensor.name.empty() || tensor.name.size() > kMaxTensorName || !printable) {
      return Bad(absl::StrCat("a tensor's name is not 1 to ", kMaxTensorName, " printable characters"));
    }
    if (!names.insert(tensor.name).second) return Bad(absl::StrCat("tensor '", tensor.name, "' twice"));
    int64_t elements = 1;
    for (int64_t dimension : tensor.shape) {
      if (dimension < 1 || elements > kMaxStateElements / dimension) {
        return Bad(absl::StrCat("tensor '", tensor.name, "' has an impossible shape"));
      }
      elements *= dimension;
    }
    total += elements;
    if (tensor.shape.size() > kMaxDimensions || total > kMaxStateElements) {
      return Bad(absl::StrCat("tensor '", tensor.name, "' has an impossible shape"));
    }
  }
  return absl::OkStatus();
}

// Removes a number and the dash after it from the front of `text`, and sets `value` to the number. The number must have
// the form that FormatName writes: no sign and no leading zeros.
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

int PlanesOf(const Manifest& manifest) {
  return manifest.shards.empty() ? 0 : static_cast<int>(manifest.shards.size()) / manifest.shards[0].count;
}

absl::Status CheckPlanes(const Manifest& manifest, const SearchOptions& options) {
  if (!options.exact || PlanesOf(manifest) == kMaxPlanes) return absl::OkStatus();
  return absl::InvalidArgumentError("it has plane 0 alone, 16 bits a value; the job's result must be exact");
}

ManifestName NameOf(const Manifest& manifest) { return {manifest.generation, manifest.step, manifest.writer}; }

absl::Status Validate(const Manifest& manifest) {
  if (manifest.format > kManifestFormat) return NewerFormat(manifest.format, "");
  if (manifest.format < kManifestFormat) {
    return Bad(absl::StrCat("format ", manifest.format, "; this version reads ", kManifestFormat));
  }
  if (!IsSafeName(manifest.job_uid)) return Bad("job_uid is not 1 to 128 of A-Z a-z 0-9 . _ -");
  if (!IsSafeName(manifest.writer)) return Bad("writer is not 1 to 128 of A-Z a-z 0-9 . _ -");
  if (manifest.generation < 0) return Bad("generation is negative");
  if (manifest.step < 0) return Bad("step is negative");
  absl::Status status = ValidateShards(manifest);
  if (status.ok()) status = ValidateTensors(manifest);
  if (!status.ok()) return status;
  for (const auto& loss : {manifest.loss, manifest.validation_loss}) {
    if (loss.has_value() && !std::isfinite(*loss)) return Bad("a loss is not finite");
  }
  for (const std::string* digest : {&manifest.state_digest, &manifest.spec_digest}) {
    if (!digest->empty() && !IsSafeName(*digest)) return Bad("a digest is no name");
  }
  if (manifest.scalars.size() > kMaxManifestBytes / 4) return Bad("scalars are too long");
  if (!manifest.scalars.empty() && !json::accept(manifest.scalars)) return Bad("scalars are not JSON");
  return absl::OkStatus();
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
  put(36, static_cast<uint32_t>(ref.plane), 4);
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
  ref.name = absl::StrCat(ref.xxh3, kShardSuffix);
  const uint64_t bytes = get(16, 8);
  const uint64_t generation = get(24, 4), index = get(28, 4), count = get(32, 4), plane = get(36, 4);
  if (bytes < 1 || bytes > kMaxShardBytes || generation > INT_MAX || count < 1 || count > kMaxShards ||
      index >= count || plane >= kMaxPlanes) {
    return absl::InvalidArgumentError("a rank sent a malformed shard record");
  }
  ref.bytes = static_cast<int64_t>(bytes);
  ref.generation = static_cast<int>(generation);
  ref.index = static_cast<int>(index);
  ref.count = static_cast<int>(count);
  ref.plane = static_cast<int>(plane);
  return ref;
}

}  // namespace rekindle::checkpoint
