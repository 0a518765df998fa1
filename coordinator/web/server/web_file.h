// Names the file in which a coordinator says which address to open in a browser.
#ifndef REKINDLE_COORDINATOR_WEB_SERVER_WEB_FILE_H_
#define REKINDLE_COORDINATOR_WEB_SERVER_WEB_FILE_H_

#include <string>

namespace rekindle::coordinator::web {

// Returns the path of the file that says which address to open, in a coordinator's data folder. The file has one line
// and is for its owner alone: on loopback it contains the token (WebServer::address_with_token).
inline std::string WebFile(const std::string& folder) { return folder + "/web"; }

}  // namespace rekindle::coordinator::web

#endif  // REKINDLE_COORDINATOR_WEB_SERVER_WEB_FILE_H_
