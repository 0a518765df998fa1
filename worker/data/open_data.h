// From a job's `data` section to its micro-batches, whatever they are read from.
#ifndef REKINDLE_WORKER_DATA_OPEN_DATA_H_
#define REKINDLE_WORKER_DATA_OPEN_DATA_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/data/data_roots.h"
#include "worker/data/sample_order.h"
#include "worker/data/table.h"
#include "worker/train/batch_source.h"

namespace rekindle::data {

// Exactly one of text, tokens, table.files and images is not empty.
struct DataSpec {
  std::vector<std::string> text;    // Read as bytes.
  std::vector<std::string> tokens;  // 16-bit little-endian token ids.
  TableSpec table;
  std::vector<std::string> images;  // Records as in images.h.
  bool augment = true;
  double validation_fraction = 0;
  int64_t max_bytes = 0;  // Of text and tokens; 0: all.
  DataRoots roots;        // Where all of them must be.
};

// What else of the job the batches depend on.
struct DataNeeds {
  uint64_t seed = 0;
  int context = 0;  // Tokens a sample; text and tokens.
  int classes = 0;  // Table and images.
  int global_batch = 0;
  int micro_batch = 0;
};

struct OpenedData {
  std::unique_ptr<train::BatchSource> batches;
  std::string fingerprint;           // Ranks of one job must have the same.
  double unigram_bits_per_byte = 0;  // Text: what knowing frequencies alone reaches. Else 0.
};

// `folder` is for what all processes of a node share. Errors name the field or the file.
absl::StatusOr<OpenedData> OpenData(const DataSpec& spec, const DataNeeds& needs, const std::string& folder);

}  // namespace rekindle::data

#endif  // REKINDLE_WORKER_DATA_OPEN_DATA_H_
