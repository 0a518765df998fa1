// Reads the columns of Parquet files that a job names. The reader itself is a plugin based on Arrow (parquet_arrow.cc),
// so that only trainers of tables load it.
#ifndef REKINDLE_WORKER_DATA_KINDS_PARQUET_H_
#define REKINDLE_WORKER_DATA_KINDS_PARQUET_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/data/files/data_roots.h"
#include "worker/data/kinds/table_rows.h"

namespace rekindle::data {

// `kMaxTableBytes` limits the size of a table in memory, in bytes.
inline constexpr int64_t kMaxTableBytes = int64_t{8} << 30;

// Reads all rows of `paths`, which must be in `roots`, one file after the other. Columns may have integers, floats or
// booleans. The files may be hostile, so the sizes that they claim are checked before memory is allocated for them.
//
// Returns UNIMPLEMENTED in a build without Arrow. Returns INVALID_ARGUMENT, with the name of the file, for invalid
// Parquet, for a missing column (and lists those that are there), for a column that is nested or not numeric, for a
// missing or non-finite value (and names its row), and for too much data. Other errors are those of DataRoots::Open.
absl::StatusOr<Table> ReadParquet(const std::vector<std::string>& paths, const std::vector<std::string>& features,
                                  const std::string& target, const DataRoots& roots = {});

// `ParquetPlugin` is the table of functions that the Parquet plugin exports (common/process/plugin.h).
struct ParquetPlugin {
  int version;
  // Appends the rows of one Parquet file to `table`. The function takes ownership of `file`, which must be open for
  // reading. `path` is used in messages.
  absl::Status (*append)(int file, const std::string& path, const std::vector<std::string>& features,
                         const std::string& target, Table* table);
};
inline constexpr int kParquetPluginVersion = 2;
inline constexpr char kParquetPluginSymbol[] = "RekindleParquetPlugin";

}  // namespace rekindle::data

#endif  // REKINDLE_WORKER_DATA_KINDS_PARQUET_H_
