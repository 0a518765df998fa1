// Reads the columns of Parquet files that a job names. The reader itself is a plugin on Arrow (parquet_arrow.cc), so
// that only trainers of tables load it.
#ifndef REKINDLE_WORKER_DATA_PARQUET_H_
#define REKINDLE_WORKER_DATA_PARQUET_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/data/data_roots.h"
#include "worker/data/table.h"

namespace rekindle::data {

// Bytes of a table in memory.
inline constexpr int64_t kMaxTableBytes = int64_t{8} << 30;

// All rows of `paths`, which are in `roots`, one file after the other; columns of integers, floats or booleans.
// Files are hostile: what they claim is checked before anything of that size is allocated.
// Errors: UNIMPLEMENTED (a build without Arrow); INVALID_ARGUMENT, naming the file: no valid Parquet, a column that is
// missing (with those there), nested or of no number, a missing or not finite value (with its row), too much data;
// those of DataRoots::Open.
absl::StatusOr<Table> ReadParquet(const std::vector<std::string>& paths, const std::vector<std::string>& features,
                                  const std::string& target, const DataRoots& roots = {});

// What the plugin exports (common/plugin.h).
struct ParquetPlugin {
  int version;
  // Appends the rows of one file to `table`. Takes `file`, which is open for reading; `path` is for messages.
  absl::Status (*append)(int file, const std::string& path, const std::vector<std::string>& features,
                         const std::string& target, Table* table);
};
inline constexpr int kParquetPluginVersion = 2;
inline constexpr char kParquetPluginSymbol[] = "RekindleParquetPlugin";

}  // namespace rekindle::data

#endif  // REKINDLE_WORKER_DATA_PARQUET_H_
