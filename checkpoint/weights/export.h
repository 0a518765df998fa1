// Exports a checkpoint's weights as a plain set of weights that any safetensors library reads (weight_set.h).
#ifndef REKINDLE_CHECKPOINT_WEIGHTS_EXPORT_H_
#define REKINDLE_CHECKPOINT_WEIGHTS_EXPORT_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checkpoint/store/store.h"
#include "checkpoint/weights/float_types.h"
#include "common/files/file.h"

namespace rekindle::checkpoint {

struct ExportOptions {
  // `type` is the type of the exported values: kF32, kF16 or kBf16.
  FloatType type = FloatType::kF32;
  // `max_file_bytes` limits the tensors of a file. A larger tensor gets a file of its own.
  int64_t max_file_bytes = 5'000'000'000;
};

struct Exported {
  // `files` has the names of the exported files, in order. If there is an index, it comes last.
  std::vector<std::string> files;
  int64_t bytes = 0;
  int64_t parameters = 0;
};

// Writes the weights of every shard of a checkpoint to `folder`, which is created if it is missing. Shards are hashed
// as they are read. For a reader the export is all or nothing: files get their names when all are complete, the index
// last. Memory is bounded by one shard, whatever the size of the model. FAILED_PRECONDITION says that the checkpoint
// names no tensors, OUT_OF_RANGE that a weight is too large for F16, and ALREADY_EXISTS that the folder holds a set.
using ExportProgress = std::function<void(int64_t done_bytes, int64_t total_bytes)>;
absl::StatusOr<Exported> ExportWeights(Store& store, const std::string& job_uid, const std::string& name,
                                       common::FileSystem& fs, const std::string& folder, const ExportOptions& options,
                                       const ExportProgress& progress = nullptr);

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_WEIGHTS_EXPORT_H_
