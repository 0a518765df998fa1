// Rows of numbers with a target each, in memory: micro-batches of a table.
#ifndef REKINDLE_WORKER_DATA_TABLE_H_
#define REKINDLE_WORKER_DATA_TABLE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/data/sample_order.h"
#include "worker/train/batch_source.h"

namespace rekindle::data {

// Which columns of which files.
struct TableSpec {
  std::vector<std::string> files;     // Files or globs (text_files.h).
  std::vector<std::string> features;  // At least one.
  std::string target;
};

struct Table {
  int columns = 0;              // Features.
  std::vector<float> features;  // Rows x columns, row after row.
  std::vector<float> targets;   // One a row.

  int64_t rows() const { return static_cast<int64_t>(targets.size()); }
};

// XXH3-128, hex, of the content.
std::string TableFingerprint(const Table& table);

// Scales each feature to mean 0 and deviation 1 over the training rows (a constant one to 0), then cuts it.
// `classes`: targets must be whole numbers from 0 to classes - 1; 0: any.
// INVALID_ARGUMENT: a target that is no class (names the row), or as SampleOrder::Create.
absl::StatusOr<std::unique_ptr<train::BatchSource>> MakeTableBatches(Table table, int classes, const BatchShape& shape);

}  // namespace rekindle::data

#endif  // REKINDLE_WORKER_DATA_TABLE_H_
