// The files of the page, which are in the program (page/, third_party/uplot).
#ifndef REKINDLE_COORDINATOR_WEB_ASSETS_H_
#define REKINDLE_COORDINATOR_WEB_ASSETS_H_

#include <map>
#include <string>
#include <string_view>

namespace rekindle::coordinator::web {

struct Asset {
  std::string content_type;
  std::string_view content;
};

// By path: "/" and "/NAME".
const std::map<std::string, Asset>& Assets();

}  // namespace rekindle::coordinator::web

#endif  // REKINDLE_COORDINATOR_WEB_ASSETS_H_
