// Plain weights as the world exchanges them: one model.safetensors, or model-0000i-of-0000n.safetensors with
// model.safetensors.index.json, as Hugging Face lays them out. Named tensors of F32, F16, BF16 or F64.
//
// What is read is hostile: names, counts and sizes are bounded before anything is allocated.
#ifndef REKINDLE_CHECKPOINT_WEIGHT_SET_H_
#define REKINDLE_CHECKPOINT_WEIGHT_SET_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checkpoint/manifest.h"
#include "checkpoint/safetensors.h"
#include "common/file.h"

namespace rekindle::checkpoint {

inline constexpr char kSingleFile[] = "model.safetensors";
inline constexpr char kIndexFile[] = "model.safetensors.index.json";

// What a set lacks, has too much, or has in another shape: one line a tensor, in the order wanted. Empty: it fits.
struct Differences {
  std::vector<std::string> missing;    // "blocks.0.up.weight [512, 128]"
  std::vector<std::string> extra;      // The same.
  std::vector<std::string> misshaped;  // "pos.weight: [64, 128] instead of [128, 128]"

  bool empty() const { return missing.empty() && extra.empty() && misshaped.empty(); }
  // A list under a heading for each kind.
  std::string ToString() const;
};

// Thread-compatible.
class WeightSet {
 public:
  // What the model calls a tensor of the set; empty: it is none of its weights, and passed over.
  using Rename = std::function<std::string(const std::string& name)>;
  // `path`: a file, or a folder with one of the two layouts. Reads headers only. NOT_FOUND; INVALID_ARGUMENT names the
  // file and what is wrong with it. Without `rename` names are as they are.
  static absl::StatusOr<WeightSet> Open(common::FileSystem& fs, const std::string& path,
                                        const Rename& rename = nullptr);

  Differences Compare(const std::vector<TensorInfo>& wanted) const;
  int64_t bytes() const { return bytes_; }

  // XXH3-128, hex, over all files. Reads all of it; `progress` (optional) is called now and then.
  using Progress = std::function<void(int64_t done_bytes, int64_t total_bytes)>;
  absl::StatusOr<std::string> Digest(const Progress& progress = nullptr) const;

  // Fills `weights`, the tensors of `wanted` packed in that order, and returns the digest of what was read.
  // INVALID_ARGUMENT: it does not fit (with the list), or holds a value that is not finite in FP32.
  absl::StatusOr<std::string> Load(const std::vector<TensorInfo>& wanted, std::span<float> weights) const;

 private:
  struct File {
    std::string path;
    int64_t bytes = 0;
    SafetensorsHeader header;  // With the model's names.
  };
  // Elements of the set in pieces: which tensor, from which element on, and their bytes.
  using Sink = std::function<absl::Status(const TensorEntry& tensor, int64_t first, std::span<const uint8_t> bytes)>;

  explicit WeightSet(common::FileSystem& fs) : fs_(&fs) {}
  absl::Status AddFile(const std::string& path, const Rename& rename);
  absl::StatusOr<std::string> ReadAll(const Sink& sink) const;
  absl::StatusOr<std::string> ReadFile(const File& file, const Sink& sink) const;

  common::FileSystem* fs_;
  std::vector<File> files_;  // By name.
  int64_t bytes_ = 0;
};

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_WEIGHT_SET_H_
