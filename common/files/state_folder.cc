#include "common/files/state_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "common/files/file.h"

namespace rekindle::common {
namespace {

std::string MarkIn(const std::string& folder) { return absl::StrCat(folder, "/.rekindle-state"); }

}  // namespace

absl::Status MarkStateFolder(const std::string& folder) {
  const int mark = open(MarkIn(folder).c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
  if (mark < 0) return ErrnoStatus(errno, "cannot create", MarkIn(folder));
  close(mark);
  return absl::OkStatus();
}

bool IsStateFolder(const std::string& folder) {
  struct stat mark = {};
  // A folder of Rekindle's own state is marked by a file in it. A mark that another user has made does not count.
  // Otherwise a user who may write into a folder of a job's files could mark that folder, and the job could not open
  // its files any more.
  return lstat(MarkIn(folder).c_str(), &mark) == 0 && mark.st_uid == geteuid();
}

}  // namespace rekindle::common
