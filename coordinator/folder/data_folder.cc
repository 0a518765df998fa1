#include "coordinator/folder/data_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>
#include <tuple>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/time/clock.h"

namespace rekindle::coordinator {
namespace {

// A process that is killed while it starts a child leaves the lock to the child for a moment, because the child has the
// descriptors of its parent until it runs its own program. So opening a folder waits `kPatienceSeconds` seconds for a
// lock.
constexpr double kPatienceSeconds = 1;
constexpr auto kRetry = std::chrono::milliseconds(10);

absl::Status Unusable(const std::string& flag, const std::string& path, int error) {
  return absl::InvalidArgumentError(
      absl::StrCat(flag, " ", path, " cannot be used: ", std::strerror(error), ": name a folder that can be written"));
}

// Checks that the data folder belongs to the user of this process or to root. The owner of the folder could replace
// everything in it, also the token and the state. Root can do that anyway, so a folder of root is fine.
absl::Status CheckOwner(const std::string& flag, const std::string& path) {
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0) return Unusable(flag, path, errno);
  if (info.st_uid == geteuid() || info.st_uid == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(flag, " ", path, " belongs to user ", info.st_uid,
                                                 ", and this is user ", geteuid(),
                                                 ": give it to this user (chown), or name another folder"));
}

std::string Holder(int lock) {
  char text[32] = {};
  // The lock file is empty if its holder has just taken the lock, or if the holder's disk is full.
  if (pread(lock, text, sizeof text - 1, 0) <= 0) return "";
  return absl::StrCat(" with pid ", absl::StripAsciiWhitespace(text));
}

}  // namespace

absl::StatusOr<DataFolder> DataFolder::Open(const std::string& path, const Use& use) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error).lexically_normal();
  if (path.empty() || error)
    return absl::InvalidArgumentError(absl::StrCat(use.flag, " is missing: name a folder for the state"));
  std::filesystem::create_directories(absolute, error);
  if (error) return Unusable(use.flag, absolute, error.value());
  if (absl::Status owner = CheckOwner(use.flag, absolute); !owner.ok()) return owner;
  // If the folder belongs to root, as the folder of a mounted volume may, its mode cannot be changed. That is no error.
  (void)chmod(absolute.c_str(), 0700);

  const std::string name = absolute / "lock";
  const int lock = open(name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (lock < 0 && errno == ELOOP) {
    return absl::InvalidArgumentError(absl::StrCat(
        use.flag, ": ", name, " is a link, which Rekindle does not make: remove it, or name another folder"));
  }
  if (lock < 0) return Unusable(use.flag, absolute, errno);
  const double give_up = common::SteadySeconds() + kPatienceSeconds;
  while (flock(lock, LOCK_EX | LOCK_NB) != 0) {
    const int cause = errno;
    if (cause == EWOULDBLOCK && common::SteadySeconds() < give_up) {
      std::this_thread::sleep_for(kRetry);
      continue;
    }
    const std::string holder = Holder(lock);
    close(lock);
    if (cause != EWOULDBLOCK) return Unusable(use.flag, absolute, cause);
    return absl::FailedPreconditionError(absl::StrCat("folder ", absolute.string(), " is in use by ", use.holder,
                                                      holder, ": stop it, or give another ", use.flag));
  }
  const std::string pid = absl::StrCat(getpid(), "\n");
  if (ftruncate(lock, 0) != 0 || pwrite(lock, pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
    // A pid that cannot be written is no error, because only an error message needs it, and a full disk must not stop a
    // restart.
    std::ignore = ftruncate(lock, 0);
  }
  return DataFolder(absolute, lock);
}

DataFolder::~DataFolder() {
  if (lock_ >= 0) close(lock_);
}

DataFolder::DataFolder(DataFolder&& other) noexcept
    : path_(std::move(other.path_)), lock_(std::exchange(other.lock_, -1)) {}

}  // namespace rekindle::coordinator
