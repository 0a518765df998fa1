#include "common/process/plugin.h"

#include <dlfcn.h>

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace rekindle::common {
namespace fs = std::filesystem;

std::string PluginPath(const std::string& file) {
  std::error_code error;
  return (fs::read_symlink("/proc/self/exe", error).parent_path() / file).string();
}

absl::StatusOr<const void*> LoadPlugin(const std::string& path, const char* symbol, int version,
                                       const std::string& without) {
  std::error_code error;
  if (!fs::exists(path, error)) {
    return absl::UnimplementedError(absl::StrCat("this build ", without, " (", path, " is absent)"));
  }
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat("the plugin cannot be loaded: ", dlerror()));
  }
  const void* plugin = dlsym(library, symbol);
  if (plugin == nullptr || *static_cast<const int*>(plugin) != version) {
    dlclose(library);
    return absl::FailedPreconditionError(
        absl::StrCat(path, " is not a plugin of version ", version, "; build it with the programs"));
  }
  return plugin;
}

}  // namespace rekindle::common
