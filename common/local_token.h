// The token of a service on loopback, where all users of a machine could call it, and how the programs of its own user
// find it by the port alone: a copy of it lies in that user's folders for what runs, `token-PORT-PLACE`.
//
// A copy may outlive its service, and the port may be somebody else's by then: a copy says what to send, never to whom.
// Whoever sends it asks first whose process listens (rpc_security.cc).
#ifndef REKINDLE_COMMON_LOCAL_TOKEN_H_
#define REKINDLE_COMMON_LOCAL_TOKEN_H_

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/process.h"

namespace rekindle::common {

// The token in that file: one line of 16 to 4096 visible ASCII characters, surrounding space is cut. INVALID_ARGUMENT
// names the flag, the file and what is wrong with it.
absl::StatusOr<std::string> ReadToken(const std::string& path);

// Whether both are the same, in a time that depends on their lengths alone, which are no secret.
bool SameSecret(std::string_view given, std::string_view expected);

// Reads a token. Where there is no such file, one with a new token is made, for this user alone (0600).
// INVALID_ARGUMENT: as of ReadToken, or it is a link, or neither this user's nor root's. Not from two processes at
// once.
absl::Status MakeTokenFile(const std::string& path);

// The user that a token made here names, as in `u1000-5f...`; nothing for any other one.
std::optional<uid_t> OwnerNamedBy(const std::string& token);

// The user's own folders in which copies lie: $XDG_RUNTIME_DIR/rekindle (or that of /run/user), which may go when the
// user logs out, and ~/.local/state/rekindle. They need not be there.
std::vector<std::string> TokenFolders();

// The copies of one token, removed with this object. Those of processes that were killed are removed by whoever
// publishes next. Movable.
class PublishedToken {
 public:
  // Into every folder in which that works; UNAVAILABLE: into none, and why. A folder is made for this user alone
  // (0700); one of another user is passed over.
  static absl::StatusOr<PublishedToken> Publish(int port, const std::string& token);
  PublishedToken(PublishedToken&&) = default;
  ~PublishedToken();

 private:
  struct Copy {
    UniqueFd folder;
    UniqueFd file;  // Locked for as long as its process lives.
  };
  explicit PublishedToken(std::string name) : name_(std::move(name)) {}
  absl::Status PublishIn(const std::string& folder, const std::string& token);

  std::string name_;
  std::vector<Copy> copies_;
};

// The newest copy that is there for that port. NOT_FOUND: none that belongs to this user and to nobody else.
absl::StatusOr<std::string> FindToken(int port);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_LOCAL_TOKEN_H_
