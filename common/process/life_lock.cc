#include "common/process/life_lock.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cmath>
#include <csignal>
#include <ctime>
#include <future>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/process/trainer_file.h"
#include "common/time/clock.h"

namespace rekindle::common {
namespace {

constexpr off_t kFileBytes = 4096;
// A life lock changes only twice: it is taken once and released once. A lock that changes more than `kMostChanges`
// times is reported as broken, so that a process that changes it for ever cannot keep the watcher busy.
constexpr int kMostChanges = 16;

void WakeAll(const uint32_t* word) { syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0); }

absl::StatusOr<uint32_t*> MapWord(int file, const std::string& path, int protection) {
  struct stat info = {};
  if (fstat(file, &info) != 0) return ErrnoError(absl::StrCat("fstat of ", path));
  if (!S_ISREG(info.st_mode) || info.st_size < static_cast<off_t>(sizeof(uint32_t))) {
    return absl::DataLossError(absl::StrCat(path, " is no lock: it is too short, or no file"));
  }
  void* mapped = mmap(nullptr, kFileBytes, protection, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) return ErrnoError(absl::StrCat("mmap of ", path));
  return static_cast<uint32_t*>(mapped);
}

// The kernel reads the list of held locks when the holding thread ends, so both outlive the thread.
robust_list_head held_locks;
robust_list held_lock;

// Takes the life lock. It must run in the thread that will hold the lock.
absl::Status Take(uint32_t* word, const std::string& path) {
  held_lock.next = &held_locks.list;
  held_locks.list.next = &held_lock;
  held_locks.futex_offset = reinterpret_cast<char*>(word) - reinterpret_cast<char*>(&held_lock);
  held_locks.list_op_pending = nullptr;
  if (syscall(SYS_set_robust_list, &held_locks, sizeof held_locks) != 0) return ErrnoError("set_robust_list");
  uint32_t free = 0;
  // FUTEX_WAITERS says that somebody waits for the lock. Without this mark the kernel would wake nobody when the holder
  // dies.
  const uint32_t held = static_cast<uint32_t>(gettid()) | FUTEX_WAITERS;
  if (!__atomic_compare_exchange_n(word, &free, held, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    return absl::FailedPreconditionError(absl::StrCat(path, " is not free: another process holds it or died with it"));
  }
  WakeAll(word);
  return absl::OkStatus();
}

}  // namespace

std::string LifeLockPath(const std::string& dir, const std::string& trainer) {
  return absl::StrCat(dir, "/alive/", TrainerFileName(trainer));
}

absl::Status HoldLifeLock(const std::string& path) {
  const UniqueFd file(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (!file.valid()) return ErrnoError(absl::StrCat("open ", path));
  const absl::StatusOr<uint32_t*> word = MapWord(file.get(), path, PROT_READ | PROT_WRITE);
  if (!word.ok()) return word.status();
  std::promise<absl::Status> taken;
  std::future<absl::Status> result = taken.get_future();
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread([&, word = *word] {
    const absl::Status status = Take(word, path);
    const bool holds = status.ok();
    taken.set_value(status);
    while (holds) pause();
  }).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return result.get();
}

absl::StatusOr<LifeLock> LifeLock::OpenWith(const std::string& path, int flags) {
  UniqueFd file(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600));
  if (!file.valid()) return ErrnoError(absl::StrCat("open ", path));
  if ((flags & O_CREAT) != 0 && ftruncate(file.get(), kFileBytes) != 0) {
    return ErrnoError(absl::StrCat("ftruncate of ", path));
  }
  const absl::StatusOr<uint32_t*> word = MapWord(file.get(), path, PROT_READ);
  if (!word.ok()) return word.status();
  return LifeLock(std::move(file), *word);
}

absl::StatusOr<LifeLock> LifeLock::Create(const std::string& path) {
  if (unlink(path.c_str()) != 0 && errno != ENOENT) return ErrnoError(absl::StrCat("unlink of ", path));
  return OpenWith(path, O_CREAT | O_EXCL);
}

absl::StatusOr<LifeLock> LifeLock::Open(const std::string& path) { return OpenWith(path, 0); }

LifeLock::LifeLock(LifeLock&& other) noexcept
    : file_(std::move(other.file_)), word_(std::exchange(other.word_, nullptr)), changes_(other.changes_) {}

LifeLock::~LifeLock() {
  if (word_ != nullptr) munmap(word_, kFileBytes);
}

absl::StatusOr<uint32_t> LifeLock::Read() const {
  uint32_t word = 0;
  // The lock's word is read from the file and not through the mapping, because a truncated file would cause a SIGBUS
  // there.
  if (pread(file_.get(), &word, sizeof word, 0) == sizeof word) return word;
  return absl::DataLossError("the file of a life lock was cut off");
}

absl::StatusOr<bool> LifeLock::AwaitDeath(double seconds) {
  const double until = SteadySeconds() + seconds;
  for (;;) {
    const absl::StatusOr<uint32_t> word = Read();
    if (!word.ok()) return word.status();
    if ((*word & FUTEX_OWNER_DIED) != 0) return true;
    const double left = until - SteadySeconds();
    if (left <= 0) return false;
    double whole = 0;
    const double part = std::modf(left, &whole);
    const timespec timeout = {.tv_sec = static_cast<time_t>(whole), .tv_nsec = static_cast<long>(part * 1e9)};
    const bool waited = syscall(SYS_futex, word_, FUTEX_WAIT, *word, &timeout, nullptr, 0) == 0;
    if (!waited && errno == EFAULT) return absl::DataLossError("the file of a life lock was cut off");
    const absl::StatusOr<uint32_t> after = Read();
    if (!after.ok()) return after.status();
    if (*after == *word) {
      // If the wait ended although the lock's word is unchanged, Wake has ended it.
      if (waited) return false;
      continue;
    }
    if (++changes_ > kMostChanges) return absl::DataLossError("the file of a life lock changes for ever");
  }
}

void LifeLock::Wake() const { WakeAll(word_); }

}  // namespace rekindle::common
