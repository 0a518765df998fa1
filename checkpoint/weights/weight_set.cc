#include "checkpoint/weights/weight_set.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "checkpoint/weights/float_types.h"
#include "common/digest/hash.h"
#include "common/text/strict_json.h"

namespace rekindle::checkpoint {
namespace {

constexpr size_t kMaxIndexBytes = 4 << 20;
constexpr size_t kMaxFiles = 1000;
// `kPiece` is a multiple of the size of every element type, so that no element is cut.
constexpr size_t kPiece = 4 << 20;

absl::Status Bad(const std::string& path, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", what));
}

std::string ShapeText(const std::vector<int64_t>& shape) { return absl::StrCat("[", absl::StrJoin(shape, ", "), "]"); }

int64_t ElementsOf(const std::vector<int64_t>& shape) {
  int64_t elements = 1;
  for (int64_t extent : shape) elements *= extent;
  return elements;
}

// Returns whether the tensor's name may be shown on terminals and is short enough.
bool IsPlainName(const std::string& name) {
  return !name.empty() && name.size() <= kMaxTensorName &&
         std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c <= '~'; });
}

bool IsFloat(const std::string& dtype) { return dtype == "F32" || dtype == "F16" || dtype == "BF16" || dtype == "F64"; }

// Returns the files that the index of a set of weights names, sorted and without duplicates.
absl::StatusOr<std::vector<std::string>> FilesOf(common::FileSystem& fs, const std::string& index) {
  const auto text = common::ReadFile(fs, index, kMaxIndexBytes);
  if (!text.ok()) return text.status();
  const auto document = common::ParseStrictJson(*text);
  if (!document.ok()) return Bad(index, document.status().message());
  const auto map = document->is_object() ? document->find("weight_map") : document->end();
  if (map == document->end() || !map->is_object()) return Bad(index, "it has no 'weight_map'");
  std::set<std::string> files;
  for (const auto& [tensor, file] : map->items()) {
    // The names of the files must be safe, because a safe name never leaves the folder.
    if (!file.is_string() || !IsSafeName(file.get<std::string>())) return Bad(index, "a file in it has no plain name");
    files.insert(file.get<std::string>());
  }
  if (files.empty() || files.size() > kMaxFiles) return Bad(index, absl::StrCat("it names ", files.size(), " files"));
  return std::vector<std::string>(files.begin(), files.end());
}

float ElementAt(const std::string& dtype, const uint8_t* bytes) {
  const auto read = [&](auto value) {
    std::memcpy(&value, bytes, sizeof(value));
    return value;
  };
  if (dtype == "F32") return read(float{});
  if (dtype == "F64") return static_cast<float>(read(double{}));
  return dtype == "F16" ? FromHalf(read(uint16_t{})) : FromBf16(read(uint16_t{}));
}

}  // namespace

std::string Differences::ToString() const {
  std::string text;
  const auto add = [&](const char* heading, const std::vector<std::string>& lines) {
    if (lines.empty()) return;
    absl::StrAppend(&text, text.empty() ? "" : "\n", heading, " (", lines.size(), "):\n  ",
                    absl::StrJoin(lines, "\n  "));
  };
  add("missing", missing);
  add("extra", extra);
  add("of another shape", misshaped);
  return text;
}

absl::StatusOr<WeightSet> WeightSet::Open(common::FileSystem& fs, const std::string& path, const Rename& rename) {
  const auto info = fs.Stat(path);
  if (!info.ok()) return info.status();
  std::vector<std::string> paths = {path};
  if (info->is_folder) {
    const std::string index = absl::StrCat(path, "/", kIndexFile), single = absl::StrCat(path, "/", kSingleFile);
    if (fs.Stat(index).ok()) {
      auto files = FilesOf(fs, index);
      if (!files.ok()) return files.status();
      for (std::string& file : *files) file = absl::StrCat(path, "/", file);
      paths = *std::move(files);
    } else if (fs.Stat(single).ok()) {
      paths = {single};
    } else {
      return absl::NotFoundError(absl::StrCat(path, " has neither ", kSingleFile, " nor ", kIndexFile));
    }
  }
  WeightSet set(fs);
  for (const std::string& file : paths) {
    if (absl::Status status = set.AddFile(file, rename); !status.ok()) return status;
  }
  return set;
}

absl::Status WeightSet::AddFile(const std::string& path, const Rename& rename) {
  const auto file = fs_->Open(path);
  if (!file.ok()) return file.status();
  const auto size = (*file)->Size();
  if (!size.ok()) return size.status();
  std::vector<uint8_t> head(std::min<size_t>(static_cast<size_t>(*size), kMaxSafetensorsHeader + sizeof(uint64_t)));
  const auto got = (*file)->ReadAt(0, head.data(), head.size());
  if (!got.ok()) return got.status();
  head.resize(*got);
  auto header = ParseSafetensorsHeader(head, static_cast<uint64_t>(*size));
  if (!header.ok()) return Bad(path, header.status().message());
  std::set<std::string> names;
  for (TensorEntry& tensor : header->tensors) {
    if (rename) tensor.name = rename(tensor.name);
    if (rename && tensor.name.empty()) continue;
    if (!names.insert(tensor.name).second) {
      return Bad(path, absl::StrCat("two of its tensors are the model's '", tensor.name, "'"));
    }
    if (!IsPlainName(tensor.name)) return Bad(path, "a tensor's name is too long or not of printable ASCII");
    if (!IsFloat(tensor.dtype)) {
      return Bad(path, absl::StrCat("tensor '", tensor.name, "' is ", tensor.dtype, "; use F32, F16, BF16 or F64"));
    }
    for (const File& other : files_) {
      if (other.header.Find(tensor.name) != nullptr) {
        return Bad(path, absl::StrCat("tensor '", tensor.name, "' is in ", other.path, ", too"));
      }
    }
  }
  files_.push_back({path, *size, *std::move(header)});
  bytes_ += *size;
  return absl::OkStatus();
}

Differences WeightSet::Compare(const std::vector<TensorInfo>& wanted) const {
  std::map<std::string, const TensorEntry*> there;
  for (const File& file : files_) {
    for (const TensorEntry& tensor : file.header.tensors) {
      if (!tensor.name.empty()) there[tensor.name] = &tensor;
    }
  }
  Differences differences;
  for (const TensorInfo& tensor : wanted) {
    const auto found = there.find(tensor.name);
    if (found == there.end()) {
      differences.missing.push_back(absl::StrCat(tensor.name, " ", ShapeText(tensor.shape)));
      continue;
    }
    if (found->second->shape != tensor.shape) {
      differences.misshaped.push_back(
          absl::StrCat(tensor.name, ": ", ShapeText(found->second->shape), " instead of ", ShapeText(tensor.shape)));
    }
    there.erase(found);
  }
  for (const auto& [name, tensor] : there) {
    differences.extra.push_back(absl::StrCat(name, " ", ShapeText(tensor->shape)));
  }
  return differences;
}

absl::StatusOr<std::string> WeightSet::ReadFile(const File& file, const Sink& sink) const {
  const auto open = fs_->Open(file.path);
  if (!open.ok()) return open.status();
  common::Hasher hasher;
  std::vector<uint8_t> piece(kPiece);
  const auto read = [&](uint64_t at, size_t bytes) -> absl::Status {
    const auto got = (*open)->ReadAt(static_cast<int64_t>(at), piece.data(), bytes);
    if (!got.ok()) return got.status();
    if (*got != bytes) return absl::DataLossError(file.path + " became shorter while it was read");
    hasher.Update(piece.data(), bytes);
    return absl::OkStatus();
  };
  if (absl::Status status = read(0, file.header.data_offset); !status.ok()) return status;
  for (const TensorEntry& tensor : file.header.tensors) {
    for (uint64_t at = tensor.begin; at < tensor.end; at += kPiece) {
      const auto bytes = static_cast<size_t>(std::min<uint64_t>(kPiece, tensor.end - at));
      absl::Status status = read(file.header.data_offset + at, bytes);
      const auto first = static_cast<int64_t>((at - tensor.begin) / DtypeBytes(tensor.dtype));
      if (status.ok()) status = sink(tensor, first, std::span(piece).first(bytes));
      if (!status.ok()) return status;
    }
  }
  return hasher.Hex();
}

absl::StatusOr<std::string> WeightSet::ReadAll(const Sink& sink) const {
  std::string digests;
  for (const File& file : files_) {
    const auto digest = ReadFile(file, sink);
    if (!digest.ok()) return digest.status();
    digests += *digest;
  }
  return common::Xxh3_128Hex(digests);
}

absl::StatusOr<std::string> WeightSet::Digest(const Progress& progress) const {
  int64_t done = 0;
  return ReadAll([&](const TensorEntry&, int64_t, std::span<const uint8_t> bytes) {
    done += static_cast<int64_t>(bytes.size());
    if (progress) progress(done, bytes_);
    return absl::OkStatus();
  });
}

absl::StatusOr<std::string> WeightSet::Load(const std::vector<TensorInfo>& wanted, std::span<float> weights) const {
  if (const Differences differences = Compare(wanted); !differences.empty()) {
    return absl::InvalidArgumentError("the set of weights does not fit the model\n" + differences.ToString());
  }
  std::map<std::string, int64_t> offsets;
  int64_t total = 0;
  for (const TensorInfo& tensor : wanted) {
    offsets[tensor.name] = total;
    total += ElementsOf(tensor.shape);
  }
  if (total != static_cast<int64_t>(weights.size())) return absl::InternalError("the model has another size");
  return ReadAll([&](const TensorEntry& tensor, int64_t first, std::span<const uint8_t> bytes) -> absl::Status {
    // `Rename` has returned an empty name for a tensor that the model does not have. Such a tensor is skipped.
    if (tensor.name.empty()) return absl::OkStatus();
    const size_t element = DtypeBytes(tensor.dtype);
    float* const out = weights.data() + offsets[tensor.name] + first;
    for (size_t i = 0; i < bytes.size() / element; ++i) {
      out[i] = ElementAt(tensor.dtype, bytes.data() + i * element);
      if (!std::isfinite(out[i])) {
        return absl::InvalidArgumentError(absl::StrCat("tensor '", tensor.name, "' has a value that is not finite"));
      }
    }
    return absl::OkStatus();
  });
}

}  // namespace rekindle::checkpoint
