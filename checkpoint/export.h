// A checkpoint's weights as a plain set that any safetensors library reads (weight_set.h).
#ifndef REKINDLE_CHECKPOINT_EXPORT_H_
#define REKINDLE_CHECKPOINT_EXPORT_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checkpoint/float_types.h"
#include "checkpoint/store.h"
#include "common/file.h"

namespace rekindle::checkpoint {

struct ExportOptions {
  FloatType type = FloatType::kF32;        // Or kF16, kBf16.
  int64_t max_file_bytes = 5'000'000'000;  // A larger tensor has a file of its own.
};

struct Exported {
  std::vector<std::string> files;  // Names in the folder, in order; the index last, where there is one.
  int64_t bytes = 0;
  int64_t parameters = 0;
};

// Writes `folder` (created where missing) from every shard, hashed as it is read. All or nothing for a reader: files
// get their names when all are complete, the index last. Memory is bounded by one shard, whatever the size of the
// model. FAILED_PRECONDITION: the checkpoint names no tensors; OUT_OF_RANGE: a weight is too large for F16;
// ALREADY_EXISTS: the folder holds a set.
using ExportProgress = std::function<void(int64_t done_bytes, int64_t total_bytes)>;
absl::StatusOr<Exported> ExportWeights(Store& store, const std::string& job_uid, const std::string& name,
                                       common::FileSystem& fs, const std::string& folder, const ExportOptions& options,
                                       const ExportProgress& progress = nullptr);

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_EXPORT_H_
