// A consistent copy of an SQLite database that is being written meanwhile.
#ifndef REKINDLE_COORDINATOR_DATABASE_COPY_H_
#define REKINDLE_COORDINATOR_DATABASE_COPY_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/process.h"

namespace rekindle::coordinator {

// What a transaction of the database saw, whole. The file has no name any more: it goes with its descriptor.
struct DatabaseCopy {
  common::UniqueFd file;
  int64_t bytes = 0;
  std::string xxh3_128;
  int schema = 0;
  std::string needs_release;  // What the database says of that schema (SqliteStore).
  std::string identity;       // Under kIdentityKey.
};

struct CopyOptions {
  std::function<bool()> cancelled = [] { return false; };  // Asked every few milliseconds.
  int pages_at_once = 1024;
  std::function<void()> after_step = [] {};  // For tests: between two of these.
};

// Copies the database `from` into a new file `to` (mode 0600, on the same disk). Writers of it are never kept waiting:
// it is read by a connection of its own, in one transaction, during which its write-ahead log grows. Memory is a few
// MiB, and so is what the disk has yet to write at any time, as a writer's sync may wait for that.
//
// CANCELLED; RESOURCE_EXHAUSTED, before anything is written, where `to` would leave too little of the disk to the
// database itself; UNAVAILABLE and DATA_LOSS as of a StateStore. Nothing is left of `to`.
absl::StatusOr<DatabaseCopy> CopyDatabase(const std::string& from, const std::string& to, const CopyOptions& options);

// What is left of `to` where the process that copied has died.
void RemoveUnfinishedCopy(const std::string& to);

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_DATABASE_COPY_H_
