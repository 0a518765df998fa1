// The plugin that speaks to the clouds, through Arrow's filesystems. It lies beside the programs and is loaded when the
// first cloud URI is opened, so that nobody else pays for Arrow: neither other programs nor jobs on file://.
#ifndef REKINDLE_COMMON_OBJECT_PLUGIN_H_
#define REKINDLE_COMMON_OBJECT_PLUGIN_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/object_client.h"
#include "common/object_uri.h"

namespace rekindle::common {

// Built with the programs, so they share C++ types; the version is there to say so when they were not.
struct ObjectPlugin {
  int version;
  // `abandoned` tells how many calls go on unheard (abandon.h): then the library is not shut down at exit.
  absl::StatusOr<std::shared_ptr<ObjectClient>> (*open)(const ObjectUri& uri, int (*abandoned)());
};
inline constexpr int kObjectPluginVersion = 1;
inline constexpr char kObjectPluginSymbol[] = "RekindleObjectPlugin";

// Stays loaded until the process ends. UNIMPLEMENTED: no such file, that is a build without Arrow. Thread-safe.
absl::StatusOr<const ObjectPlugin*> LoadObjectPlugin(const std::string& path);
std::string DefaultObjectPluginPath();

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_OBJECT_PLUGIN_H_
