#include "common/files/users.h"

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace rekindle::common {

std::string UserName(uid_t user) {
  passwd entry = {};
  passwd* found = nullptr;
  char text[4096];
  if (getpwuid_r(user, &entry, text, sizeof text, &found) != 0 || found == nullptr) return absl::StrCat("uid ", user);
  return entry.pw_name;
}

absl::StatusOr<gid_t> FindGroup(const std::string& name) {
  struct group entry = {};
  struct group* found = nullptr;
  // The buffer for getgrnam_r is large because a group may have many members.
  std::string text(size_t{1} << 16, '\0');
  if (getgrnam_r(name.c_str(), &entry, text.data(), text.size(), &found) != 0 || found == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("there is no group '", name, "' on this machine"));
  }
  std::vector<gid_t> own(static_cast<size_t>(std::max(0, getgroups(0, nullptr))));
  own.resize(static_cast<size_t>(std::max(0, getgroups(static_cast<int>(own.size()), own.data()))));
  own.push_back(getegid());
  if (geteuid() == 0 || std::find(own.begin(), own.end(), entry.gr_gid) != own.end()) return entry.gr_gid;
  return absl::InvalidArgumentError(absl::StrCat("this process is not in group '", name,
                                                 "': add its user, or give its unit SupplementaryGroups=", name));
}

}  // namespace rekindle::common
