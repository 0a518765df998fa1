#include "common/objects/object_plugin.h"

#include "common/objects/object_store.h"
#include "common/process/plugin.h"
#include "common/time/abandon.h"

namespace rekindle::common {

std::string DefaultObjectPluginPath() { return PluginPath("librekindle_objects.so"); }

absl::StatusOr<const ObjectPlugin*> LoadObjectPlugin(const std::string& path) {
  const auto plugin =
      LoadPlugin(path, kObjectPluginSymbol, kObjectPluginVersion,
                 "cannot reach s3://, gs:// and abfs://: build it by scripts/bootstrap, or use file://");
  if (!plugin.ok()) return plugin.status();
  return static_cast<const ObjectPlugin*>(*plugin);
}

absl::StatusOr<std::shared_ptr<ObjectStore>> OpenObjectStore(const ObjectUri& uri, const ObjectStoreOptions& options) {
  const auto plugin = LoadObjectPlugin(DefaultObjectPluginPath());
  if (!plugin.ok()) return plugin.status();
  auto client = (*plugin)->open(uri, AbandonedCalls);
  if (!client.ok()) return client.status();
  return std::make_shared<ObjectStore>(*std::move(client), uri.prefix, options);
}

}  // namespace rekindle::common
