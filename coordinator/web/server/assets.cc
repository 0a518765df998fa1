#include "coordinator/web/server/assets.h"

#include "coordinator/web/server/embedded.h"

namespace rekindle::coordinator::web {
namespace {

std::string TypeOf(std::string_view name) {
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  if (name.ends_with(".js")) return "text/javascript; charset=utf-8";
  if (name.ends_with(".svg")) return "image/svg+xml";
  return "text/plain; charset=utf-8";
}

}  // namespace

const std::map<std::string, Asset>& Assets() {
  static const auto* assets = [] {
    auto* made = new std::map<std::string, Asset>();
    for (const Embedded& file : EmbeddedFiles()) {
      const std::string name(file.name);
      (*made)[name == "index.html" ? "/" : "/" + name] = {TypeOf(file.name), file.content};
    }
    return made;
  }();
  return *assets;
}

}  // namespace rekindle::coordinator::web
