#include "worker/data/parquet.h"

#include "common/plugin.h"

namespace rekindle::data {

absl::StatusOr<Table> ReadParquet(const std::vector<std::string>& paths, const std::vector<std::string>& features,
                                  const std::string& target) {
  const auto found = common::LoadPlugin(common::PluginPath("librekindle_parquet.so"), kParquetPluginSymbol,
                                        kParquetPluginVersion, "cannot read Parquet: build it by scripts/bootstrap");
  if (!found.ok()) return found.status();
  const auto* plugin = static_cast<const ParquetPlugin*>(*found);
  Table table{.columns = static_cast<int>(features.size())};
  for (const std::string& path : paths) {
    if (absl::Status status = plugin->append(path, features, target, &table); !status.ok()) return status;
  }
  return table;
}

}  // namespace rekindle::data
