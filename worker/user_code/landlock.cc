#include "worker/user_code/landlock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "common/process/process.h"

namespace rekindle::user_code {
namespace {

// The numbers and structures are those of linux/landlock.h, which a build machine may have in an older version.
constexpr long kCreateRuleset = 444, kAddRule = 445, kRestrictSelf = 446;
constexpr uint32_t kAskVersion = 1;
constexpr int kPathBeneath = 1;

struct RulesetAttributes {
  uint64_t files = 0, network = 0, scoped = 0;
};
struct __attribute__((packed)) PathAttributes {
  uint64_t allowed = 0;
  int32_t parent = -1;
};

constexpr uint64_t kExecute = 1 << 0, kWriteFile = 1 << 1, kReadFile = 1 << 2, kReadFolder = 1 << 3;
constexpr uint64_t kMakeDevice = 1 << 6 | 1 << 11;
constexpr uint64_t kFirstRights = (1 << 13) - 1, kRefer = 1 << 13, kTruncate = 1 << 14, kDeviceControl = 1 << 15;
constexpr uint64_t kOfFiles = kExecute | kWriteFile | kReadFile | kTruncate | kDeviceControl;
// The scopes are those of abstract Unix sockets and of signals.
constexpr uint64_t kScopes = 1 << 0 | 1 << 1;

uint64_t HandledRights(int version) {
  return kFirstRights | (version >= 2 ? kRefer : 0) | (version >= 3 ? kTruncate : 0) |
         (version >= 5 ? kDeviceControl : 0);
}

// `flags` are more flags for open().
absl::Status Allow(int ruleset, const std::vector<std::string>& paths, uint64_t rights, int flags = 0) {
  for (const std::string& path : paths) {
    const common::UniqueFd parent(open(path.c_str(), O_PATH | O_CLOEXEC | flags));
    if (!parent.valid()) continue;
    struct stat facts = {};
    if (fstat(parent.get(), &facts) != 0) return common::ErrnoError(absl::StrCat("stat of ", path));
    if (S_ISLNK(facts.st_mode)) continue;
    const PathAttributes rule = {.allowed = S_ISDIR(facts.st_mode) ? rights : rights & kOfFiles,
                                 .parent = parent.get()};
    if (syscall(kAddRule, ruleset, kPathBeneath, &rule, 0) != 0) {
      return common::ErrnoError(absl::StrCat("allow ", path, " by Landlock"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

int LandlockVersion() {
  const long version = syscall(kCreateRuleset, nullptr, 0, kAskVersion);
  return version > 0 ? static_cast<int>(version) : 0;
}

absl::StatusOr<common::UniqueFd> MakeRuleset(const FileRules& rules) {
  const int version = LandlockVersion();
  if (version == 0) return absl::UnavailableError("this kernel has no Landlock, or it is switched off");
  const uint64_t handled = HandledRights(version);
  const RulesetAttributes attributes = {.files = handled, .scoped = version >= 6 ? kScopes : 0};
  // An older kernel refuses a structure that is longer than the one it knows.
  const size_t known = version >= 6 ? sizeof(attributes) : sizeof(attributes.files);
  common::UniqueFd ruleset(static_cast<int>(syscall(kCreateRuleset, &attributes, known, 0)));
  if (!ruleset.valid()) return common::ErrnoError("make a ruleset of Landlock");
  constexpr uint64_t kRead = kExecute | kReadFile | kReadFolder;
  absl::Status allowed = Allow(ruleset.get(), rules.readable, kRead);
  if (allowed.ok()) allowed = Allow(ruleset.get(), rules.programs, kRead, O_NOFOLLOW);
  if (allowed.ok()) allowed = Allow(ruleset.get(), rules.writable, handled & ~kMakeDevice);
  if (allowed.ok()) {
    allowed = Allow(ruleset.get(), rules.fillable, (kReadFile | kReadFolder | kWriteFile | kTruncate) & handled);
  }
  if (!allowed.ok()) return allowed;
  return ruleset;
}

bool EnterRuleset(int ruleset) { return syscall(kRestrictSelf, ruleset, 0) == 0; }

}  // namespace rekindle::user_code
