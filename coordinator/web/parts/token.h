// Provides the token that viewers of the web page must have.
#ifndef REKINDLE_COORDINATOR_WEB_PARTS_TOKEN_H_
#define REKINDLE_COORDINATOR_WEB_PARTS_TOKEN_H_

#include <string>

#include "absl/status/statusor.h"

namespace rekindle::coordinator::web {

// Returns the token in `token_file` if the operator has named one. Otherwise it returns the web page's own token, from
// the file `page-token` of `folder`. Viewers of the page do not get the coordinator's token, with which they could call
// its services. The page's token is random, is made at the first call, readable for this user alone, and is kept, so
// that an open page survives a restart. INVALID_ARGUMENT names a file that contains no token.
absl::StatusOr<std::string> PageToken(const std::string& token_file, const std::string& folder);

}  // namespace rekindle::coordinator::web

#endif  // REKINDLE_COORDINATOR_WEB_PARTS_TOKEN_H_
