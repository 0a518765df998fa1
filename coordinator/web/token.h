// The token that the page's viewers must have.
#ifndef REKINDLE_COORDINATOR_WEB_TOKEN_H_
#define REKINDLE_COORDINATOR_WEB_TOKEN_H_

#include <string>

#include "absl/status/statusor.h"

namespace rekindle::coordinator::web {

// The token of that file where the operator has named one. Else one of the page's own, in the file `page-token` of
// `folder`: whoever is shown the page is not given the coordinator's own, which allows calls. It is made at the first
// call, random, for this user alone, and kept, so that a page that is open lives through a restart. INVALID_ARGUMENT
// names the file that is no token.
absl::StatusOr<std::string> PageToken(const std::string& token_file, const std::string& folder);

}  // namespace rekindle::coordinator::web

#endif  // REKINDLE_COORDINATOR_WEB_TOKEN_H_
