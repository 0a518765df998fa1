#include "checkpoint/weights/export.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "checkpoint/format/planes.h"
#include "checkpoint/weights/weight_set.h"

namespace rekindle::checkpoint {
namespace {

const char* DtypeName(FloatType type) {
  return type == FloatType::kF16 ? "F16" : type == FloatType::kBf16 ? "BF16" : "F32";
}

int64_t BytesOf(FloatType type) { return type == FloatType::kF32 ? 4 : 2; }

int64_t ElementsOf(const TensorInfo& tensor) {
  int64_t elements = 1;
  for (int64_t extent : tensor.shape) elements *= extent;
  return elements;
}

// Lists the consecutive tensors that go into one file of the export.
struct Part {
  std::string name;
  std::vector<TensorEntry> tensors;
  int64_t elements = 0;
};

std::vector<Part> Plan(const Manifest& manifest, const ExportOptions& options) {
  std::vector<Part> parts;
  for (const TensorInfo& tensor : manifest.tensors) {
    const int64_t elements = ElementsOf(tensor);
    const int64_t size = BytesOf(options.type);
    if (parts.empty() || (parts.back().elements + elements) * size > options.max_file_bytes) parts.emplace_back();
    parts.back().tensors.push_back({.name = tensor.name, .dtype = DtypeName(options.type), .shape = tensor.shape});
    parts.back().elements += elements;
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    parts[i].name =
        parts.size() == 1 ? kSingleFile : absl::StrFormat("model-%05d-of-%05d.safetensors", i + 1, parts.size());
  }
  return parts;
}

std::string IndexOf(const std::vector<Part>& parts, int64_t bytes) {
  nlohmann::ordered_json map = nlohmann::ordered_json::object();
  for (const Part& part : parts) {
    for (const TensorEntry& tensor : part.tensors) map[tensor.name] = part.name;
  }
  return nlohmann::ordered_json{{"metadata", {{"total_size", bytes}}}, {"weight_map", map}}.dump(2) + "\n";
}

absl::Status Convert(std::span<const float> values, FloatType type, std::vector<uint8_t>* out) {
  out->resize(values.size() * static_cast<size_t>(BytesOf(type)));
  if (type == FloatType::kF32) {
    std::memcpy(out->data(), values.data(), out->size());
    return absl::OkStatus();
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const uint16_t half = type == FloatType::kF16 ? ToHalf(values[i]) : ToBf16(values[i]);
    if (type == FloatType::kF16 && std::isinf(FromHalf(half)) && !std::isinf(values[i])) {
      return absl::OutOfRangeError(absl::StrCat("a weight of ", values[i], " is too large for f16: use bf16 or f32"));
    }
    std::memcpy(out->data() + 2 * i, &half, sizeof(half));
  }
  return absl::OkStatus();
}

// Writes the files of an export in order from the flat weights. The files have temporary names until Publish.
class Writer {
 public:
  Writer(common::FileSystem& fs, std::string folder, std::vector<Part> parts, FloatType type)
      : fs_(fs), folder_(std::move(folder)), parts_(std::move(parts)), type_(type) {}
  ~Writer() {
    for (const std::string& temporary : temporaries_) fs_.Remove(temporary).IgnoreError();
  }

  absl::Status Append(std::span<const float> values) {
    std::vector<uint8_t> bytes;
    while (!values.empty()) {
      if (!file_) {
        if (absl::Status status = OpenNext(); !status.ok()) return status;
      }
      const auto n = std::min(values.size(), static_cast<size_t>(left_));
      absl::Status status = Convert(values.first(n), type_, &bytes);
      if (status.ok()) status = file_->Append(bytes.data(), bytes.size());
      left_ -= static_cast<int64_t>(n);
      if (status.ok() && left_ == 0) status = CloseFile();
      if (!status.ok()) return status;
      values = values.subspan(n);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Exported> Publish() {
    Exported exported;
    for (const Part& part : parts_) {
      exported.parameters += part.elements;
      exported.files.push_back(part.name);
    }
    exported.bytes = exported.parameters * BytesOf(type_);
    for (size_t i = 0; i < parts_.size(); ++i) {
      const absl::Status status = fs_.Rename(temporaries_[i], Path(parts_[i].name));
      if (!status.ok()) return status;
    }
    temporaries_.clear();
    if (absl::Status status = fs_.SyncDir(folder_); !status.ok()) return status;
    if (parts_.size() == 1) return exported;
    const absl::Status status = common::WriteFileAtomic(fs_, Path(kIndexFile), IndexOf(parts_, exported.bytes));
    if (!status.ok()) return status;
    exported.files.push_back(kIndexFile);
    return exported;
  }

 private:
  std::string Path(const std::string& name) const { return absl::StrCat(folder_, "/", name); }

  absl::Status OpenNext() {
    const Part& part = parts_[temporaries_.size()];
    const auto header = EncodeSafetensorsHeader({{"format", "pt"}}, part.tensors);
    if (!header.ok()) return header.status();
    temporaries_.push_back(common::TemporaryName(Path(part.name)));
    auto file = fs_.Create(temporaries_.back());
    if (!file.ok()) return file.status();
    file_ = *std::move(file);
    left_ = part.elements;
    return file_->Append(header->data(), header->size());
  }

  absl::Status CloseFile() {
    const auto file = std::move(file_);
    const absl::Status synced = file->Sync();
    const absl::Status closed = file->Close();
    return synced.ok() ? closed : synced;
  }

  common::FileSystem& fs_;
  const std::string folder_;
  const std::vector<Part> parts_;
  const FloatType type_;
  // `temporaries_` has the temporary names of the files that were begun, until they get their final names.
  std::vector<std::string> temporaries_;
  std::unique_ptr<common::WritableFile> file_;
  // `left_` counts the elements that the open file still lacks.
  int64_t left_ = 0;
};

absl::Status MakeFolder(common::FileSystem& fs, const std::string& folder) {
  if (absl::Status status = common::CreateFolders(fs, folder); !status.ok()) return status;
  const auto names = fs.List(folder);
  if (!names.ok()) return names.status();
  for (const std::string& name : *names) {
    if (name == kIndexFile || absl::EndsWith(name, ".safetensors")) {
      return absl::AlreadyExistsError(absl::StrCat(folder, " holds ", name, " already: name another folder"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Exported> ExportWeights(Store& store, const std::string& job_uid, const std::string& name,
                                       common::FileSystem& fs, const std::string& folder, const ExportOptions& options,
                                       const ExportProgress& progress) {
  const auto manifest = store.ReadManifest(job_uid, name);
  if (!manifest.ok()) return manifest.status();
  if (manifest->tensors.empty()) {
    return absl::FailedPreconditionError(name + " does not name its tensors: it is of an older version");
  }
  int64_t total = 0, done = 0, all_bytes = 0;
  for (const TensorInfo& tensor : manifest->tensors) total += ElementsOf(tensor);
  for (const ShardRef& ref : manifest->shards) all_bytes += ref.bytes;
  if (absl::Status status = MakeFolder(fs, folder); !status.ok()) return status;
  Writer writer(fs, folder, Plan(*manifest, options), options.type);
  std::vector<uint8_t> planes[kMaxPlanes];
  std::vector<float> weights;
  int64_t at = 0;
  for (size_t i = 0; i < manifest->shards.size(); ++i) {
    const ShardRef& ref = manifest->shards[i];
    std::vector<uint8_t>& plane = planes[ref.plane];
    absl::Status status = store.ReadShard(job_uid, ref, &plane);
    if (!status.ok()) return status;
    done += ref.bytes;
    if (progress) progress(done, all_bytes);
    if (ref.plane + 1 < PlanesOf(*manifest)) continue;
    const auto read =
        ReadWeights(planes[0], PlanesOf(*manifest) > 1 ? planes[1] : std::vector<uint8_t>(), total, &weights);
    if (!read.ok()) return read.status();
    if (read->range.begin != at) return absl::DataLossError(name + ": its shards overlap or leave a gap");
    at = read->range.end;
    if (status = writer.Append(weights); !status.ok()) return status;
  }
  if (at != total) return absl::DataLossError(name + ": its shards do not cover its tensors");
  return writer.Publish();
}

}  // namespace rekindle::checkpoint
