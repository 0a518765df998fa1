// A life lock is a lock in a file that a process holds until it dies. A watcher of the lock notices the death before
// the kernel frees the dead process's memory. Only after that does a pidfd become readable and do sockets close. If the
// process had gigabytes in small pages, that is a second later.
//
// It is a robust futex (Linux, Documentation/locking/robust-futex-ABI.rst): a word of shared memory with the holder's
// thread id, which the kernel marks when that thread ends. A release is a hint and no proof, because every process that
// may write the file can forge it. SIGSTOP does not release it. Pid namespaces do not matter, as nobody reads the
// thread id.
//
// Errors are NOT_FOUND if there is no such file, DATA_LOSS if the file is no lock, and otherwise INTERNAL with errno's
// text.
#ifndef REKINDLE_COMMON_PROCESS_LIFE_LOCK_H_
#define REKINDLE_COMMON_PROCESS_LIFE_LOCK_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/process/process.h"

namespace rekindle::common {

// Returns the path of a trainer's lock in the folder of its node: DIR/alive/ and the trainer's name.
std::string LifeLockPath(const std::string& dir, const std::string& trainer);

// Holds the lock for the rest of this process's life, in a thread of its own that does nothing else, takes no signals
// and allocates nothing. It may be called once in a process. FAILED_PRECONDITION says that a process holds the lock
// already, or has died while it held the lock.
absl::Status HoldLifeLock(const std::string& path);

// `LifeLock` is the watcher's side. It never touches the mapped memory itself, so a truncated file does no harm. It is
// thread-compatible.
class LifeLock {
 public:
  // Creates a new lock that nobody holds yet, and replaces an existing file. Only this user can read and write it.
  static absl::StatusOr<LifeLock> Create(const std::string& path);
  static absl::StatusOr<LifeLock> Open(const std::string& path);
  LifeLock(LifeLock&& other) noexcept;
  LifeLock& operator=(LifeLock&&) = delete;
  ~LifeLock();

  // Returns whether the holder has died while it held the lock. Waits for that for up to `seconds`, or until Wake.
  absl::StatusOr<bool> AwaitDeath(double seconds);
  // Ends a wait that has begun in AwaitDeath. It is thread-safe.
  void Wake() const;

 private:
  LifeLock(UniqueFd file, uint32_t* word) : file_(std::move(file)), word_(word) {}
  static absl::StatusOr<LifeLock> OpenWith(const std::string& path, int flags);
  absl::StatusOr<uint32_t> Read() const;

  UniqueFd file_;
  // `word_` is mapped, but only the address is used and never the memory.
  uint32_t* word_;
  int changes_ = 0;
};

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_PROCESS_LIFE_LOCK_H_
