// Loads the plugin that accesses the clouds through Arrow's filesystems. It is beside the programs and is loaded when
// the first cloud URI is opened. So neither other programs nor jobs on file:// have the cost of loading Arrow.
#ifndef REKINDLE_COMMON_OBJECTS_OBJECT_PLUGIN_H_
#define REKINDLE_COMMON_OBJECTS_OBJECT_PLUGIN_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/objects/object_client.h"
#include "common/objects/object_uri.h"

namespace rekindle::common {

// `ObjectPlugin` is the interface of the plugin. It is built with the programs, so they share C++ types. The version
// detects a plugin of another build.
struct ObjectPlugin {
  int version;
  // `abandoned` returns how many abandoned calls still run (abandon.h). If there are any, the library is not shut down
  // at exit.
  absl::StatusOr<std::shared_ptr<ObjectClient>> (*open)(const ObjectUri& uri, int (*abandoned)());
};
inline constexpr int kObjectPluginVersion = 1;
inline constexpr char kObjectPluginSymbol[] = "RekindleObjectPlugin";

// Loads the plugin, which stays loaded until the process ends. UNIMPLEMENTED says that there is no such file, as in a
// build without Arrow. It is thread-safe.
absl::StatusOr<const ObjectPlugin*> LoadObjectPlugin(const std::string& path);
std::string DefaultObjectPluginPath();

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_OBJECTS_OBJECT_PLUGIN_H_
