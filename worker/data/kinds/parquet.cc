#include "worker/data/kinds/parquet.h"

#include "common/process/plugin.h"

namespace rekindle::data {

absl::StatusOr<Table> ReadParquet(const std::vector<std::string>& paths, const std::vector<std::string>& features,
                                  const std::string& target, const DataRoots& roots) {
  const auto found = common::LoadPlugin(common::PluginPath("librekindle_parquet.so"), kParquetPluginSymbol,
                                        kParquetPluginVersion, "cannot read Parquet: build it by scripts/bootstrap");
  if (!found.ok()) return found.status();
  const auto* plugin = static_cast<const ParquetPlugin*>(*found);
  Table table{.columns = static_cast<int>(features.size())};
  for (const std::string& path : paths) {
    absl::StatusOr<common::UniqueFd> file = roots.Open(path);
    if (!file.ok()) return file.status();
    absl::Status status = plugin->append(file->Release(), path, features, target, &table);
    if (!status.ok()) return status;
  }
  return table;
}

}  // namespace rekindle::data
