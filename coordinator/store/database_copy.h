// Makes a consistent copy of an SQLite database that is written at the same time.
#ifndef REKINDLE_COORDINATOR_STORE_DATABASE_COPY_H_
#define REKINDLE_COORDINATOR_STORE_DATABASE_COPY_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/process/process.h"

namespace rekindle::coordinator {

// Holds the complete content that one transaction of the database saw. The copy's file has no name any more and
// disappears with its descriptor.
struct DatabaseCopy {
  common::UniqueFd file;
  int64_t bytes = 0;
  std::string xxh3_128;
  int schema = 0;
  // `needs_release` is the oldest release that reads the schema, as the database states it (SqliteStore).
  std::string needs_release;
  // `identity` is the database's value under kIdentityKey.
  std::string identity;
};

struct CopyOptions {
  // `cancelled` returns whether the copy is to be given up. It is called every few milliseconds.
  std::function<bool()> cancelled = [] { return false; };
  int pages_at_once = 1024;
  // Tests set `after_step`, which is called after each step of `pages_at_once` pages.
  std::function<void()> after_step = [] {};
};

// Copies the database `from` into a new file `to` (mode 0600, on the same disk). Writers of the database never wait for
// the copy: a connection of its own reads the database in one transaction, and the write-ahead log grows meanwhile. The
// copy needs a few MiB of memory. The kernel never has more than a few MiB of it left to write to the disk, because the
// sync of a writer may wait for them.
//
// The errors are CANCELLED, RESOURCE_EXHAUSTED (`to` would leave too little of the disk to the database itself, and
// nothing was written), and UNAVAILABLE and DATA_LOSS as for a StateStore. After an error nothing is left of `to`.
absl::StatusOr<DatabaseCopy> CopyDatabase(const std::string& from, const std::string& to, const CopyOptions& options);

// Removes what a process that died while it copied a database has left of the file `to`.
void RemoveUnfinishedCopy(const std::string& to);

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_STORE_DATABASE_COPY_H_
