// Decides who may see the web page: whoever asks for it by a name of the page's server and has the token.
//
// A foreign page that is open in a browser must learn nothing. It cannot reach the server by a host name of its own,
// because the Host header is checked. It cannot ask from its own address, because Origin is checked. And no token is
// sent by the browser itself, because there is no cookie.
#ifndef REKINDLE_COORDINATOR_WEB_PARTS_ACCESS_H_
#define REKINDLE_COORDINATOR_WEB_PARTS_ACCESS_H_

#include <functional>
#include <optional>
#include <string>

#include "common/serve/page_server.h"

namespace rekindle::coordinator::web {

// Access is thread-safe.
class Access {
 public:
  struct Options {
    // `token` is the token that viewers of the page must have. It must not be empty.
    std::string token;
    // `scheme` is "http" or "https".
    std::string scheme;
    // Returns whether `host`, without port and brackets, is one of the names of the page's server.
    std::function<bool(const std::string& host)> is_ours;
    // `names` lists the server's names in words, for the message of a refusal.
    std::string names;
  };
  explicit Access(Options options) : options_(std::move(options)), expected_("Bearer " + options_.token) {}

  // Returns the refusal of a request, or nullopt when the request may pass. `needs_token` is false for the files of the
  // page, which are no secret and which browsers load without a token.
  std::optional<common::PageAnswer> Refuse(const common::PageRequest& request, bool needs_token) const;

 private:
  bool HasToken(const common::PageRequest& request) const;

  const Options options_;
  const std::string expected_;
};

// Returns an answer with the status and {"error": message}.
common::PageAnswer Refusal(int status, const std::string& message);

}  // namespace rekindle::coordinator::web

#endif  // REKINDLE_COORDINATOR_WEB_PARTS_ACCESS_H_
