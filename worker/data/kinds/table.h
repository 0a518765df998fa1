// Makes micro-batches from a table in memory.
#ifndef REKINDLE_WORKER_DATA_KINDS_TABLE_H_
#define REKINDLE_WORKER_DATA_KINDS_TABLE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "worker/contract/batch_source.h"
#include "worker/data/kinds/table_rows.h"
#include "worker/data/samples/sample_order.h"

namespace rekindle::data {

// Returns the XXH3-128 of the table's content, in hex.
std::string TableFingerprint(const Table& table);

// Scales each feature to mean 0 and standard deviation 1 over the training rows (a constant one to 0), and cuts the
// table into micro-batches. With `classes` above 0 the targets must be whole numbers from 0 to classes - 1. With 0
// classes they may be any numbers. Returns INVALID_ARGUMENT for a target that is not a class (and names its row), and
// in the cases of SampleOrder::Create.
absl::StatusOr<std::unique_ptr<train::BatchSource>> MakeTableBatches(Table table, int classes, const BatchShape& shape);

}  // namespace rekindle::data

#endif  // REKINDLE_WORKER_DATA_KINDS_TABLE_H_
