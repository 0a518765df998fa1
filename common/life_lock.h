// A lock in a file that a process holds until it dies. Whoever watches it hears of the death before the kernel frees
// the dead process's memory. Only after that does a pidfd become readable and do sockets close: with gigabytes in small
// pages that is a second later.
//
// It is a robust futex (Linux, Documentation/locking/robust-futex-ABI.rst): a word of shared memory with the holder's
// thread id, which the kernel marks when that thread ends. A release is a hint and no proof, as whoever may write the
// file can forge it. SIGSTOP does not release it. Pid namespaces do not matter: nobody looks at the thread id.
//
// Errors: NOT_FOUND when there is no such file, DATA_LOSS when the file is no lock, else INTERNAL with errno's text.
#ifndef REKINDLE_COMMON_LIFE_LOCK_H_
#define REKINDLE_COMMON_LIFE_LOCK_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/process.h"

namespace rekindle::common {

// Of a trainer, in the folder of its node: DIR/alive/ and its name.
std::string LifeLockPath(const std::string& dir, const std::string& trainer);

// Holds the lock for the rest of this process's life, in a thread of its own that does nothing else, takes no signals
// and allocates nothing. Once a process. FAILED_PRECONDITION: it is held already, or somebody has died with it.
absl::Status HoldLifeLock(const std::string& path);

// The watcher's side. Never touches the mapped memory itself, so a file that is cut off does no harm.
// Thread-compatible.
class LifeLock {
 public:
  // A new one, which nobody holds yet, in place of what is there. Readable and writable by this user only.
  static absl::StatusOr<LifeLock> Create(const std::string& path);
  static absl::StatusOr<LifeLock> Open(const std::string& path);
  LifeLock(LifeLock&& other) noexcept;
  LifeLock& operator=(LifeLock&&) = delete;
  ~LifeLock();

  // Whether the holder has died with it. Waits for that so many seconds, or until Wake.
  absl::StatusOr<bool> AwaitDeath(double seconds);
  // Ends a wait that has begun. Thread-safe.
  void Wake() const;

 private:
  LifeLock(UniqueFd file, uint32_t* word) : file_(std::move(file)), word_(word) {}
  static absl::StatusOr<LifeLock> OpenWith(const std::string& path, int flags);
  absl::StatusOr<uint32_t> Read() const;

  UniqueFd file_;
  uint32_t* word_;  // Mapped; only its address is used.
  int changes_ = 0;
};

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_LIFE_LOCK_H_
