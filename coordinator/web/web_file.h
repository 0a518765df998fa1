// Where a coordinator with that data folder says what to open in a browser.
#ifndef REKINDLE_COORDINATOR_WEB_WEB_FILE_H_
#define REKINDLE_COORDINATOR_WEB_WEB_FILE_H_

#include <string>

namespace rekindle::coordinator::web {

// One line, for its owner alone: on loopback it holds the token (WebServer::address_with_token).
inline std::string WebFile(const std::string& folder) { return folder + "/web"; }

}  // namespace rekindle::coordinator::web

#endif  // REKINDLE_COORDINATOR_WEB_WEB_FILE_H_
