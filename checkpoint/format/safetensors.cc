#include "checkpoint/format/safetensors.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/text/strict_json.h"

namespace rekindle::checkpoint {
namespace {

using nlohmann::json;

constexpr size_t kLengthBytes = 8;
constexpr char kMetadata[] = "__metadata__";
constexpr size_t kMaxRank = 32;

absl::Status Bad(std::string what) {
  return absl::InvalidArgumentError(absl::StrCat("not a safetensors file: ", what));
}

// Shortens a name for messages, because a name from a file may be long.
std::string Short(const std::string& name) { return name.size() <= 64 ? name : name.substr(0, 64) + "..."; }

// Returns the bytes of a tensor: the number of its elements times the size of one. It is an error if a dimension is
// negative or the product overflows.
absl::StatusOr<uint64_t> BytesOf(const TensorEntry& tensor) {
  uint64_t bytes = DtypeBytes(tensor.dtype);
  if (bytes == 0) return Bad(absl::StrCat("tensor '", Short(tensor.name), "' has an unknown dtype"));
  if (tensor.shape.size() > kMaxRank)
    return Bad(absl::StrCat("tensor '", Short(tensor.name), "' has too many dimensions"));
  bool empty = false;
  for (int64_t dimension : tensor.shape) {
    if (dimension < 0) return Bad(absl::StrCat("tensor '", Short(tensor.name), "' has a negative dimension"));
    empty = empty || dimension == 0;
  }
  if (empty) return 0;
  for (int64_t dimension : tensor.shape) {
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(dimension), &bytes)) {
      return Bad(absl::StrCat("the size of tensor '", Short(tensor.name), "' overflows"));
    }
  }
  return bytes;
}

absl::StatusOr<TensorEntry> ParseTensor(const std::string& name, const json& value) {
  const auto bad = [&](const char* what) { return Bad(absl::StrCat("tensor '", Short(name), "': ", what)); };
  if (!value.is_object() || value.size() != 3 || !value.contains("dtype") || !value.contains("shape") ||
      !value.contains("data_offsets")) {
    return bad("it must have dtype, shape and data_offsets, and nothing else");
  }
  TensorEntry tensor{.name = name};
  if (!value["dtype"].is_string()) return bad("dtype is no string");
  tensor.dtype = value["dtype"].get<std::string>();
  const json& shape = value["shape"];
  if (!shape.is_array() || shape.size() > kMaxRank) return bad("shape is no array of at most 32 numbers");
  for (const json& dimension : shape) {
    if (!dimension.is_number_unsigned() || dimension.get<uint64_t>() > INT64_MAX) return bad("a dimension is no count");
    tensor.shape.push_back(dimension.get<int64_t>());
  }
  const json& offsets = value["data_offsets"];
  if (!offsets.is_array() || offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
      !offsets[1].is_number_unsigned()) {
    return bad("data_offsets is no pair of counts");
  }
  tensor.begin = offsets[0].get<uint64_t>();
  tensor.end = offsets[1].get<uint64_t>();
  const auto bytes = BytesOf(tensor);
  if (!bytes.ok()) return bytes.status();
  if (tensor.end < tensor.begin || tensor.end - tensor.begin != *bytes) return bad("data_offsets and shape disagree");
  return tensor;
}

absl::Status ParseMetadata(const json& value, std::map<std::string, std::string>* metadata) {
  if (!value.is_object()) return Bad("__metadata__ is no object");
  for (const auto& [key, text] : value.items()) {
    if (!text.is_string()) return Bad("__metadata__ has a value that is no string");
    (*metadata)[key] = text.get<std::string>();
  }
  return absl::OkStatus();
}

// Sorts the tensors by the position of their data, and checks that the data is without gaps from 0 to `data_bytes`.
absl::Status CheckLayout(std::vector<TensorEntry>& tensors, uint64_t data_bytes) {
  std::sort(tensors.begin(), tensors.end(), [](const TensorEntry& a, const TensorEntry& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  uint64_t at = 0;
  for (const TensorEntry& tensor : tensors) {
    if (tensor.begin != at) return Bad(absl::StrCat("gap or overlap before tensor '", Short(tensor.name), "'"));
    at = tensor.end;
  }
  if (at != data_bytes) {
    return Bad(absl::StrCat("the tensors have ", at, " bytes, the file has ", data_bytes, " after its header"));
  }
  return absl::OkStatus();
}

}  // namespace

const TensorEntry* SafetensorsHeader::Find(const std::string& name) const {
  for (const TensorEntry& tensor : tensors) {
    if (tensor.name == name) return &tensor;
  }
  return nullptr;
}

size_t DtypeBytes(const std::string& dtype) {
  static const std::map<std::string, size_t>* const sizes = new std::map<std::string, size_t>{
      {"F64", 8}, {"F32", 4}, {"F16", 2}, {"BF16", 2}, {"I64", 8}, {"I32", 4}, {"I16", 2},
      {"I8", 1},  {"U64", 8}, {"U32", 4}, {"U16", 2},  {"U8", 1},  {"BOOL", 1}};
  const auto found = sizes->find(dtype);
  return found == sizes->end() ? 0 : found->second;
}

absl::StatusOr<std::string> EncodeSafetensorsHeader(const std::map<std::string, std::string>& metadata,
                                                    const std::vector<TensorEntry>& tensors, size_t alignment) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header[kMetadata] = metadata;
  uint64_t at = 0;
  for (const TensorEntry& tensor : tensors) {
    if (tensor.name == kMetadata || header.contains(tensor.name)) {
      return Bad(absl::StrCat("the name '", Short(tensor.name), "' twice"));
    }
    const auto bytes = BytesOf(tensor);
    if (!bytes.ok()) return bytes.status();
    uint64_t end;
    if (__builtin_add_overflow(at, *bytes, &end)) return Bad("the sizes overflow");
    header[tensor.name] = {{"dtype", tensor.dtype}, {"shape", tensor.shape}, {"data_offsets", {at, end}}};
    at = end;
  }
  std::string text = header.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  while ((kLengthBytes + text.size()) % alignment != 0) text.push_back(' ');
  if (text.size() > kMaxSafetensorsHeader) return Bad("the header is too long");
  std::string out(kLengthBytes, '\0');
  for (size_t i = 0; i < kLengthBytes; ++i) out[i] = static_cast<char>(text.size() >> (8 * i) & 0xff);
  return out + text;
}

absl::StatusOr<SafetensorsHeader> ParseSafetensorsHeader(std::span<const uint8_t> head, uint64_t file_bytes) {
  if (head.size() < kLengthBytes) return Bad("shorter than 8 bytes");
  uint64_t length = 0;
  for (size_t i = 0; i < kLengthBytes; ++i) length |= static_cast<uint64_t>(head[i]) << (8 * i);
  if (length > kMaxSafetensorsHeader) return Bad(absl::StrCat("a header of ", length, " bytes"));
  if (head.size() - kLengthBytes < length || file_bytes < kLengthBytes + length) return Bad("truncated header");
  const std::string_view text(reinterpret_cast<const char*>(head.data()) + kLengthBytes, length);
  if (text.empty() || text.front() != '{') return Bad("the header does not begin with '{'");
  const auto document = common::ParseStrictJson(text, {.depth = 3});
  if (!document.ok()) return Bad(std::string(document.status().message()));

  SafetensorsHeader header{.data_offset = kLengthBytes + length};
  for (const auto& [name, value] : document->items()) {
    if (name == kMetadata) {
      if (absl::Status status = ParseMetadata(value, &header.metadata); !status.ok()) return status;
      continue;
    }
    auto tensor = ParseTensor(name, value);
    if (!tensor.ok()) return tensor.status();
    header.tensors.push_back(*std::move(tensor));
  }
  if (absl::Status status = CheckLayout(header.tensors, file_bytes - header.data_offset); !status.ok()) return status;
  return header;
}

}  // namespace rekindle::checkpoint
