// Reads plain weights in the common layout of Hugging Face: one model.safetensors, or model-0000i-of-0000n.safetensors
// with model.safetensors.index.json. The tensors are named, and their type is F32, F16, BF16 or F64.
//
// The input is treated as hostile: names, counts and sizes are bounded before anything is allocated.
#ifndef REKINDLE_CHECKPOINT_WEIGHTS_WEIGHT_SET_H_
#define REKINDLE_CHECKPOINT_WEIGHTS_WEIGHT_SET_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checkpoint/format/manifest.h"
#include "checkpoint/format/safetensors.h"
#include "common/files/file.h"

namespace rekindle::checkpoint {

inline constexpr char kSingleFile[] = "model.safetensors";
inline constexpr char kIndexFile[] = "model.safetensors.index.json";

// Lists the tensors of the model that a set of weights lacks, the tensors of the set that the model lacks, and those
// that have another shape in the set, with one line per tensor. `missing` and `misshaped` are in the order of `wanted`,
// and `extra` is sorted. The lists are empty if the set fits.
struct Differences {
  // An entry of `missing` or `extra` looks like "blocks.0.up.weight [512, 128]".
  std::vector<std::string> missing;
  std::vector<std::string> extra;
  // An entry of `misshaped` looks like "pos.weight: [64, 128] instead of [128, 128]".
  std::vector<std::string> misshaped;

  bool empty() const { return missing.empty() && extra.empty() && misshaped.empty(); }
  // Returns `missing`, `extra` and `misshaped` as text, each under a heading.
  std::string ToString() const;
};

// Gives access to the tensors of a set of weights. The class is thread-compatible.
class WeightSet {
 public:
  // Returns the model's name for a tensor of the set. The result is empty if the model has no such weight, and then the
  // tensor is skipped.
  using Rename = std::function<std::string(const std::string& name)>;
  // Opens the set of weights at `path`, which is a file or a folder with one of the two layouts. Only headers are read.
  // Returns NOT_FOUND, or INVALID_ARGUMENT with the file and what is wrong with it. Without `rename` the names stay as
  // they are.
  static absl::StatusOr<WeightSet> Open(common::FileSystem& fs, const std::string& path,
                                        const Rename& rename = nullptr);

  Differences Compare(const std::vector<TensorInfo>& wanted) const;
  int64_t bytes() const { return bytes_; }

  // Returns the XXH3-128 over all files of the set in hex, for which it reads all of them. `progress` is optional and
  // called now and then.
  using Progress = std::function<void(int64_t done_bytes, int64_t total_bytes)>;
  absl::StatusOr<std::string> Digest(const Progress& progress = nullptr) const;

  // Fills `weights` with the tensors of `wanted`, packed in that order, and returns the digest of the files that were
  // read. INVALID_ARGUMENT lists how the set differs from `wanted`, or says that a value is not finite in FP32.
  absl::StatusOr<std::string> Load(const std::vector<TensorInfo>& wanted, std::span<float> weights) const;

 private:
  struct File {
    std::string path;
    int64_t bytes = 0;
    // `header` lists the file's tensors with the model's names.
    SafetensorsHeader header;
  };
  // Receives elements of the set in pieces: the tensor, the index of the piece's first element, and the bytes.
  using Sink = std::function<absl::Status(const TensorEntry& tensor, int64_t first, std::span<const uint8_t> bytes)>;

  explicit WeightSet(common::FileSystem& fs) : fs_(&fs) {}
  absl::Status AddFile(const std::string& path, const Rename& rename);
  absl::StatusOr<std::string> ReadAll(const Sink& sink) const;
  absl::StatusOr<std::string> ReadFile(const File& file, const Sink& sink) const;

  common::FileSystem* fs_;
  // `files_` is sorted by the files' names.
  std::vector<File> files_;
  int64_t bytes_ = 0;
};

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_WEIGHTS_WEIGHT_SET_H_
