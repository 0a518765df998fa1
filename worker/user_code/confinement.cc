#include "worker/user_code/confinement.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/ipc.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <limits>

#include "absl/strings/str_cat.h"

namespace rekindle::user_code {
namespace {

constexpr int kMostCapabilities = 64;
constexpr long kJoinSessionKeyring = 1;
constexpr uint64_t kMostSignals = 4096;
// `kLockedBytes` is the kernel's own default. An agent may have no such limit, for the sake of network cards.
constexpr uint64_t kLockedBytes = uint64_t{8} << 20;
constexpr uint64_t kNoDump = 1;
// A process that is to be killed may kill who comes to kill it. So many attempts are made.
constexpr int kMostRounds = 1000;

// The functions below run between fork and exec. They call the kernel directly where the C library would tell other
// threads, of which there are none in a process that was just forked.

bool Limit(int resource, uint64_t most) {
  const rlimit limit = {.rlim_cur = most, .rlim_max = most};
  return syscall(SYS_prlimit64, 0, resource, &limit, nullptr) == 0;
}

bool ApplyLimits(const Limits& limits) {
  const uint64_t memory = limits.memory_bytes == 0 ? RLIM_INFINITY : limits.memory_bytes;
  return Limit(RLIMIT_DATA, memory) && Limit(RLIMIT_FSIZE, limits.file_bytes) &&
         Limit(RLIMIT_NPROC, limits.processes) && Limit(RLIMIT_NOFILE, limits.open_files) &&
         // A dump of the memory would have the values that the environment keeps. The kernel gives it to a program that
         // is to keep dumps (core_pattern) even with the limit 0, and to nobody with the limit 1 (core(5)).
         Limit(RLIMIT_CORE, kNoDump) && Limit(RLIMIT_MSGQUEUE, 0) && Limit(RLIMIT_SIGPENDING, kMostSignals) &&
         // Who may raise the priority of a process can keep all others from running.
         Limit(RLIMIT_NICE, 0) && Limit(RLIMIT_RTPRIO, 0) && Limit(RLIMIT_MEMLOCK, kLockedBytes);
}

// When memory runs out, the kernel kills code of users before anything else.
void BeFirstToGo() {
  const int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  [[maybe_unused]] const ssize_t ignored = write(file, "1000", 4);
  close(file);
}

bool DropCapabilities() {
  // The set of those that a program could bring back may only be changed by who has privileges.
  for (int capability = 0; capability < kMostCapabilities; ++capability) {
    if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0 && errno != EINVAL) return false;
  }
  return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) == 0;
}

bool HasNoCapabilities() {
  __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  const __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
  return syscall(SYS_capset, &header, none) == 0;
}

bool BecomeUser(uid_t uid) {
  // A user id that was given up must not come back.
  return syscall(SYS_setgroups, 0, nullptr) == 0 && syscall(SYS_setresgid, uid, uid, uid) == 0 &&
         syscall(SYS_setresuid, uid, uid, uid) == 0 && syscall(SYS_setresuid, 0, 0, 0) != 0;
}

// Removes memory, semaphores and queues of System V, which outlive all processes. Who has no privileges can remove its
// own alone, so it tries all that there are.
void RemoveLeftIpc() {
  // The commands that return the greatest index, and the identifier at an index, whoever owns it.
  constexpr int kShmInfo = 14, kShmAt = 15, kMsgInfo = 12, kMsgAt = 13, kSemInfo = 19, kSemAt = 20;
  // It has room for each structure that these commands fill in.
  alignas(8) char facts[512];
  for (long i = syscall(SYS_shmctl, 0, kShmInfo, facts); i >= 0; --i) {
    const long id = syscall(SYS_shmctl, i, kShmAt, facts);
    if (id >= 0) syscall(SYS_shmctl, id, IPC_RMID, nullptr);
  }
  for (long i = syscall(SYS_msgctl, 0, kMsgInfo, facts); i >= 0; --i) {
    const long id = syscall(SYS_msgctl, i, kMsgAt, facts);
    if (id >= 0) syscall(SYS_msgctl, id, IPC_RMID, nullptr);
  }
  for (long i = syscall(SYS_semctl, 0, 0, kSemInfo, facts); i >= 0; --i) {
    const long id = syscall(SYS_semctl, i, 0, kSemAt, facts);
    if (id >= 0) syscall(SYS_semctl, id, 0, IPC_RMID, nullptr);
  }
}

// KillAsUser() ends with one of these codes, if no process of the user kills it before.
constexpr int kKilled = 0, kNotAllowed = 1;

// Runs in a process of its own, and kills all that a user without privileges may kill. It is certain that this process
// has neither another user id nor a privilege, because it would kill all of the machine otherwise.
[[noreturn]] void KillAsUser(uid_t uid) {
  const bool is_user = BecomeUser(uid) && HasNoCapabilities() && syscall(SYS_getuid) == static_cast<long>(uid) &&
                       syscall(SYS_geteuid) == static_cast<long>(uid);
  if (!is_user) _exit(kNotAllowed);
  // There may be nobody to kill.
  kill(-1, SIGKILL);
  RemoveLeftIpc();
  _exit(kKilled);
}

}  // namespace

absl::StatusOr<Confinement> Confinement::Prepare(ConfinementOptions options) {
  if (options.uid < kLeastUid || options.uid == std::numeric_limits<uid_t>::max()) {
    return absl::InvalidArgumentError(absl::StrCat("code of users must not have the user id ", options.uid));
  }
  common::UniqueFd ruleset;
  if (options.has_landlock) {
    absl::StatusOr<common::UniqueFd> made = MakeRuleset(options.rules);
    if (!made.ok()) return made.status();
    ruleset = *std::move(made);
  }
  return Confinement(std::move(options), std::move(ruleset));
}

void Confinement::AddTo(common::SpawnOptions* spawn) const {
  spawn->confine = [](const void* with) { return static_cast<const Confinement*>(with)->Apply(); };
  spawn->confine_with = this;
}

const char* Confinement::Apply() const {
  umask(S_IRWXG | S_IRWXO);
  // After the change of the user the file of the process belongs to another one.
  BeFirstToGo();
  if (!ApplyLimits(options_.limits)) return "rekindle: the limits for code of users cannot be set\n";
  if (!DropCapabilities()) return "rekindle: the privileges of code of users cannot be dropped\n";
  // Keys of this session would be found by the new user otherwise. A kernel without keys has none to find.
  [[maybe_unused]] const long ignored = syscall(SYS_keyctl, kJoinSessionKeyring, nullptr);
  // Memory of System V would outlive the processes. Where a container forbids this, KillAll() removes that memory.
  (void)unshare(CLONE_NEWIPC);
  if (!BecomeUser(options_.uid)) return "rekindle: the user id for code of users cannot be taken\n";
  if (!HasNoCapabilities()) return "rekindle: the privileges of code of users cannot be given up\n";
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return "rekindle: new privileges cannot be ruled out\n";
  if (ruleset_.valid() && !EnterRuleset(ruleset_.get())) return "rekindle: Landlock cannot be entered\n";
  if (!options_.folder.empty() && chdir(options_.folder.c_str()) != 0) {
    return "rekindle: the folder for code of users cannot be entered by its user\n";
  }
  return nullptr;
}

absl::Status KillAll(uid_t uid) {
  if (uid < kLeastUid)
    return absl::InvalidArgumentError(absl::StrCat("the user id ", uid, " is not for code of users"));
  for (int i = 0; i < kMostRounds; ++i) {
    const pid_t pid = fork();
    if (pid < 0) return common::ErrnoError("fork");
    if (pid == 0) KillAsUser(uid);
    int status = 0;
    for (;;) {
      if (waitpid(pid, &status, WUNTRACED) < 0) {
        if (errno != EINTR) return common::ErrnoError("waitpid");
      } else if (WIFSTOPPED(status)) {
        // A process of the user has stopped it, and would keep this one waiting.
        kill(pid, SIGKILL);
      } else {
        break;
      }
    }
    // One call reaches all processes, and what they fork at that time as well.
    if (WIFEXITED(status) && WEXITSTATUS(status) == kKilled) return absl::OkStatus();
    if (WIFEXITED(status)) break;
  }
  return absl::PermissionDeniedError(absl::StrCat("the processes of the user id ", uid, " cannot be killed"));
}

}  // namespace rekindle::user_code
