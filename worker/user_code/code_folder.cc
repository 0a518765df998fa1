// The parts of code_setting.h that make, give away and remove folders.
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "common/files/state_folder.h"
#include "common/process/process.h"
#include "common/process/trainer_file.h"
#include "worker/user_code/code_setting.h"
#include "worker/user_code/disk_use.h"

namespace rekindle::user_code {
namespace {

constexpr int kCannotAsk = 255;
// CheckReach() tells the number of the path by an exit code.
constexpr size_t kMostPaths = 200;

// Makes a folder with exactly this owner and these rights, or gives them to one that is there.
absl::Status MakeFolder(const std::string& path, uid_t owner, gid_t group, mode_t mode) {
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return common::ErrnoError(absl::StrCat("make the folder ", path));
  }
  const common::UniqueFd folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder.valid()) return common::ErrnoError(absl::StrCat("open the folder ", path));
  if (fchown(folder.get(), owner, group) != 0 || fchmod(folder.get(), mode) != 0) {
    return common::ErrnoError(absl::StrCat("give away the folder ", path));
  }
  return absl::OkStatus();
}

// Makes this process the user for the rights of files alone. So processes of the user can neither signal nor stop it.
bool ReachAsUser(uid_t uid) {
  // The calls return the id before. An id that nobody can have changes nothing.
  constexpr auto kNobody = static_cast<uid_t>(-1);
  if (syscall(SYS_setgroups, 0, nullptr) != 0) return false;
  syscall(SYS_setfsgid, uid);
  syscall(SYS_setfsuid, uid);
  return static_cast<uid_t>(syscall(SYS_setfsgid, kNobody)) == uid &&
         static_cast<uid_t>(syscall(SYS_setfsuid, kNobody)) == uid;
}

// Returns whether this process, which reaches as the user, can read a path. A file that cannot be executed, or a folder
// that cannot be entered, is of no use to the user.
bool CanRead(uid_t uid, const char* path) {
  if (syscall(SYS_faccessat2, AT_FDCWD, path, R_OK | X_OK, AT_EACCESS) == 0) return true;
  if (errno != ENOSYS && errno != EPERM) return false;
  // Some containers forbid the call, because they are older than it. Then the process becomes the user wholly.
  syscall(SYS_setresgid, uid, uid, uid);
  syscall(SYS_setresuid, uid, uid, uid);
  return getuid() == uid && access(path, R_OK | X_OK) == 0;
}

// Runs in a process of its own. Returns the number of the first path that the user cannot read, or `count`.
[[noreturn]] void AskAsUser(uid_t uid, const char* const* paths, int count) {
  if (!ReachAsUser(uid)) _exit(kCannotAsk);
  for (int i = 0; i < count; ++i) {
    if (!CanRead(uid, paths[i])) _exit(i);
  }
  _exit(count);
}

}  // namespace

std::string ScratchOf(const std::string& folder) { return folder + "/scratch"; }
std::string BundleOf(const std::string& folder) { return folder + "/bundle"; }
std::string FaultsOf(const std::string& folder) { return folder + "/faults"; }
std::string FaultsFileOf(const std::string& folder, const std::string& trainer) {
  return absl::StrCat(FaultsOf(folder), "/", common::TrainerFileName(trainer));
}

absl::Status MakeCodeRoot(const std::string& root) {
  // Users enter it on the way to their own folders, and cannot see which others there are.
  absl::Status made = MakeFolder(root, geteuid(), getegid(), 0711);
  if (made.ok()) made = common::MarkStateFolder(root);
  return made;
}

absl::Status MakeCodeFolder(const CodeSetting& setting) {
  const bool is_isolated = setting.isolation != Isolation::kNone;
  const uid_t own = geteuid();
  const gid_t group = is_isolated ? setting.uid : getegid();
  absl::Status made = MakeFolder(setting.folder, own, group, 0710);
  if (made.ok()) {
    made = MakeFolder(ScratchOf(setting.folder), is_isolated ? setting.uid : own, group, 0700);
  }
  if (made.ok()) made = MakeFolder(FaultsOf(setting.folder), own, group, 0710);
  return made;
}

absl::Status GiveToRead(const CodeSetting& setting, const std::string& path) {
  if (setting.isolation == Isolation::kNone) return absl::OkStatus();
  const auto give = [&](const std::string& each) -> absl::Status {
    const common::UniqueFd file(open(each.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    struct stat facts = {};
    if (!file.valid() || fstat(file.get(), &facts) != 0) return common::ErrnoError(absl::StrCat("open ", each));
    const bool runs = S_ISDIR(facts.st_mode) || (facts.st_mode & S_IXUSR) != 0;
    if (fchown(file.get(), geteuid(), setting.uid) != 0 || fchmod(file.get(), runs ? 0550 : 0440) != 0) {
      return common::ErrnoError(absl::StrCat("give away ", each));
    }
    return absl::OkStatus();
  };
  if (absl::Status given = give(path); !given.ok()) return given;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error)) {
    // The rights of a link are those of what it leads to.
    if (entry->is_symlink(error)) continue;
    if (absl::Status given = give(entry->path().string()); !given.ok()) return given;
  }
  return error ? absl::InternalError(absl::StrCat("read the folder ", path, ": ", error.message())) : absl::OkStatus();
}

absl::Status CopyBundle(const CodeSetting& setting, const std::string& from) {
  const std::string own = BundleOf(setting.folder), unfinished = own + ".unfinished";
  RemoveCodeFolder(unfinished);
  std::error_code error;
  std::filesystem::copy(from, unfinished, std::filesystem::copy_options::recursive, error);
  absl::Status done = error ? absl::InternalError(absl::StrCat("copy ", from, " for its job: ", error.message()))
                            : GiveToRead(setting, unfinished);
  if (done.ok() && rename(unfinished.c_str(), own.c_str()) != 0) done = common::ErrnoError("rename to " + own);
  if (!done.ok()) RemoveCodeFolder(unfinished);
  return done;
}

void RemoveCodeFolder(const std::string& folder) {
  EmptyFolder(folder);
  rmdir(folder.c_str());
}

absl::Status CheckReach(uid_t uid, const std::vector<std::string>& paths) {
  if (paths.size() > kMostPaths) return absl::InvalidArgumentError("too many paths are to be looked at");
  std::vector<const char*> pointers;
  for (const std::string& path : paths) pointers.push_back(path.c_str());
  const pid_t pid = fork();
  if (pid < 0) return common::ErrnoError("fork");
  if (pid == 0) AskAsUser(uid, pointers.data(), static_cast<int>(pointers.size()));
  int status = 0;
  while (waitpid(pid, &status, WUNTRACED) < 0) {
    if (errno != EINTR) return common::ErrnoError("waitpid");
  }
  if (WIFSTOPPED(status)) {
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) == kCannotAsk) {
    return absl::PermissionDeniedError(absl::StrCat("this process cannot take the user id ", uid));
  }
  const auto number = static_cast<size_t>(WEXITSTATUS(status));
  if (number >= paths.size()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("code of users, which has a user id of its own here, cannot read ", paths[number],
                   ": let others read it and enter each folder above it (chmod o+rX), or put it elsewhere"));
}

}  // namespace rekindle::user_code
