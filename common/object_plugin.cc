#include "common/object_plugin.h"

#include <dlfcn.h>

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "common/abandon.h"
#include "common/object_store.h"

namespace rekindle::common {
namespace fs = std::filesystem;

std::string DefaultObjectPluginPath() {
  std::error_code error;
  return (fs::read_symlink("/proc/self/exe", error).parent_path() / "librekindle_objects.so").string();
}

absl::StatusOr<const ObjectPlugin*> LoadObjectPlugin(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) {
    return absl::UnimplementedError(absl::StrCat("this build cannot reach s3://, gs:// and abfs:// (", path,
                                                 " is absent): build it by scripts/bootstrap, or use file://"));
  }
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat("the plugin of the object stores cannot be loaded: ", dlerror()));
  }
  const auto* plugin = static_cast<const ObjectPlugin*>(dlsym(library, kObjectPluginSymbol));
  if (plugin == nullptr || plugin->version != kObjectPluginVersion) {
    dlclose(library);
    return absl::FailedPreconditionError(
        absl::StrCat(path, " is not a plugin of version ", kObjectPluginVersion, "; build it with the programs"));
  }
  return plugin;
}

absl::StatusOr<std::shared_ptr<ObjectStore>> OpenObjectStore(const ObjectUri& uri, const ObjectStoreOptions& options) {
  const auto plugin = LoadObjectPlugin(DefaultObjectPluginPath());
  if (!plugin.ok()) return plugin.status();
  auto client = (*plugin)->open(uri, AbandonedCalls);
  if (!client.ok()) return client.status();
  return std::make_shared<ObjectStore>(*std::move(client), uri.prefix, options);
}

}  // namespace rekindle::common
