// A backup of a coordinator's state in one file: three lines of text, then the bytes of an SQLite database.
//
//   rekindle-backup
//   {"format":1,"needs_release":"0.2.0",...,"bytes":40960,"xxh3_128":"..."}
//   XXH3-128 of the line above
//
// A newer format keeps these three lines, and the fields `format` and `needs_release`, so that whoever cannot read it
// can say what can. The hashes find accidents; they are no defence against a forger.
#ifndef REKINDLE_COORDINATOR_BACKUP_FILE_H_
#define REKINDLE_COORDINATOR_BACKUP_FILE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/cluster_identity.h"
#include "common/hash.h"

namespace rekindle::coordinator {

inline constexpr size_t kMaxBackupHeaderBytes = 4096;  // Of its second line.

struct BackupHeader {
  common::ClusterIdentity identity;
  int64_t taken_at = 0;       // Unix seconds.
  std::string release;        // That took it.
  int schema = 0;             // Of the database.
  std::string needs_release;  // The oldest that reads that schema; empty: unknown.
  int64_t bytes = 0;          // Of the database, as is the next.
  std::string xxh3_128;
};

// All that is written before the database.
std::string BackupPreamble(const BackupHeader& header);

// Takes a backup in pieces of any size, hands its database on as it comes, and says at the end whether all of it was
// right: until then what was handed on may be damaged. Holds no more than the three lines. Thread-compatible.
//
// Errors, after which every call answers the same: INVALID_ARGUMENT (this is no backup), DATA_LOSS (damaged, cut off,
// or with bytes after its end), FAILED_PRECONDITION (a newer format; names the release to install), and those of the
// sink.
class BackupReader {
 public:
  using Sink = std::function<absl::Status(std::string_view)>;

  explicit BackupReader(Sink sink) : sink_(std::move(sink)) {}

  absl::Status Take(std::string_view piece);
  // Once, after the last piece.
  absl::StatusOr<BackupHeader> Finish();

 private:
  absl::Status TakeAny(std::string_view piece);
  absl::Status TakeContent(std::string_view piece);
  absl::Status CheckEnd() const;

  const Sink sink_;
  absl::Status status_;
  std::string preamble_;  // What there is of it, and maybe a little more, until the header is known.
  std::optional<BackupHeader> header_;
  common::Hasher hasher_;
  int64_t taken_ = 0;  // Bytes of the database.
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_BACKUP_FILE_H_
