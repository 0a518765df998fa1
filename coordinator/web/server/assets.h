// Provides the files of the web page, which are part of the program (page/, third_party/uplot).
#ifndef REKINDLE_COORDINATOR_WEB_SERVER_ASSETS_H_
#define REKINDLE_COORDINATOR_WEB_SERVER_ASSETS_H_

#include <map>
#include <string>
#include <string_view>

namespace rekindle::coordinator::web {

struct Asset {
  std::string content_type;
  std::string_view content;
};

// Returns the files of the web page. The keys are their paths on the server, which are "/" or "/NAME".
const std::map<std::string, Asset>& Assets();

}  // namespace rekindle::coordinator::web

#endif  // REKINDLE_COORDINATOR_WEB_SERVER_ASSETS_H_
