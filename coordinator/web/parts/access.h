// Decides who may see the page: whoever asks for it by a name of this server and has the token.
//
// A foreign page that is open in a browser must learn nothing. It cannot use a name of its own that leads here, because
// the Host header is checked. It cannot ask from its own address, because Origin is checked. And no token is sent by
// the browser itself, because there is no cookie.
#ifndef REKINDLE_COORDINATOR_WEB_PARTS_ACCESS_H_
#define REKINDLE_COORDINATOR_WEB_PARTS_ACCESS_H_

#include <functional>
#include <optional>
#include <string>

#include "common/serve/page_server.h"

namespace rekindle::coordinator::web {

// This class is thread-safe.
class Access {
 public:
  struct Options {
    // `token` must not be empty.
    std::string token;
    // `scheme` is "http" or "https".
    std::string scheme;
    // Returns whether `host`, without port and brackets, is one of this server's names.
    std::function<bool(const std::string& host)> is_ours;
    // `names` says which names these are, for the refusal.
    std::string names;
  };
  explicit Access(Options options) : options_(std::move(options)), expected_("Bearer " + options_.token) {}

  // Returns the refusal, or nullopt when the request may pass. `needs_token` is false for the files of the page, which
  // are no secret and which browsers load without a token.
  std::optional<common::PageAnswer> Refuse(const common::PageRequest& request, bool needs_token) const;

 private:
  bool HasToken(const common::PageRequest& request) const;

  const Options options_;
  const std::string expected_;
};

// Answers with {"error": message}.
common::PageAnswer Refusal(int status, const std::string& message);

}  // namespace rekindle::coordinator::web

#endif  // REKINDLE_COORDINATOR_WEB_PARTS_ACCESS_H_
