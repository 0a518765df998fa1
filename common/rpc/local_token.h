// Publishes the token of a service on loopback, where all users of a machine could call it. The programs of its own
// user find the token by the port alone: a copy is in that user's folders for runtime files, as `token-PORT-PLACE`.
//
// A copy may outlive its service, and another user may have the port by then. So a copy says what to send, but never to
// whom. Before a client sends it, it asks whose process listens (rpc_security.cc).
#ifndef REKINDLE_COMMON_RPC_LOCAL_TOKEN_H_
#define REKINDLE_COMMON_RPC_LOCAL_TOKEN_H_

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/process/process.h"

namespace rekindle::common {

// Returns the token in the file at `path`: one line of 16 to 4096 visible ASCII characters, without the space around
// it. INVALID_ARGUMENT names the flag, the file and what is wrong with it.
absl::StatusOr<std::string> ReadToken(const std::string& path);

// Returns whether two secrets are the same. The time depends only on their lengths, which are no secret.
bool SameSecret(std::string_view given, std::string_view expected);

// Checks the token in a file. If there is no such file, it creates one with a new token, for this user alone (0600).
// INVALID_ARGUMENT says that ReadToken refuses the file, or that the path is a link or a file that belongs neither to
// this user nor to root. Two processes must not call it at once for the same path.
absl::Status MakeTokenFile(const std::string& path);

// Returns the user whose id is in the token, as in `u1000-5f...`, which MakeTokenFile writes. Returns nothing for a
// token that was made in another way.
std::optional<uid_t> OwnerNamedBy(const std::string& token);

// Returns the user's own folders for copies of tokens: $XDG_RUNTIME_DIR/rekindle (or that of /run/user), which may
// disappear when the user logs out, and ~/.local/state/rekindle. They need not exist.
std::vector<std::string> TokenFolders();

// Owns the copies of one token, which are removed with this object. The copies of killed processes are removed by the
// next process that publishes. It is movable.
class PublishedToken {
 public:
  // Publishes the token in every folder in which that works. UNAVAILABLE says that it works in none, and why. A folder
  // is created for this user alone (0700). A folder of another user is skipped.
  static absl::StatusOr<PublishedToken> Publish(int port, const std::string& token);
  PublishedToken(PublishedToken&&) = default;
  ~PublishedToken();

 private:
  struct Copy {
    UniqueFd folder;
    // The process that publishes the token holds a lock on `file` for as long as it lives.
    UniqueFd file;
  };
  explicit PublishedToken(std::string name) : name_(std::move(name)) {}
  absl::Status PublishIn(const std::string& folder, const std::string& token);

  std::string name_;
  std::vector<Copy> copies_;
};

// Returns the newest copy of the token for `port`. NOT_FOUND says that there is no copy that belongs to this user and
// that nobody else may read.
absl::StatusOr<std::string> FindToken(int port);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_RPC_LOCAL_TOKEN_H_
