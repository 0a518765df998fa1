// Who may see the page: whoever asks for it by a name of this server, and has the token.
//
// A page of somebody else that a browser has open must learn nothing: not by a name of its own that leads here (the
// Host header is checked), nor by asking from where it stands (Origin), nor by a token that the browser sends by itself
// (there is no cookie).
#ifndef REKINDLE_COORDINATOR_WEB_ACCESS_H_
#define REKINDLE_COORDINATOR_WEB_ACCESS_H_

#include <functional>
#include <optional>
#include <string>

#include "common/serve/page_server.h"

namespace rekindle::coordinator::web {

// Thread-safe.
class Access {
 public:
  struct Options {
    std::string token;   // Not empty.
    std::string scheme;  // "http" or "https".
    // Is that one of this server's names? Without port and brackets.
    std::function<bool(const std::string& host)> is_ours;
    std::string names;  // Which these are, for the refusal.
  };
  explicit Access(Options options) : options_(std::move(options)), expected_("Bearer " + options_.token) {}

  // The refusal; nothing where it may pass. The files of the page are no secret, and browsers load them without a
  // token: `needs_token` is false for these.
  std::optional<common::PageAnswer> Refuse(const common::PageRequest& request, bool needs_token) const;

 private:
  bool HasToken(const common::PageRequest& request) const;

  const Options options_;
  const std::string expected_;
};

// {"error": message}.
common::PageAnswer Refusal(int status, const std::string& message);

}  // namespace rekindle::coordinator::web

#endif  // REKINDLE_COORDINATOR_WEB_ACCESS_H_
