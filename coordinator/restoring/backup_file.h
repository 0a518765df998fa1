// Reads and writes backups. A backup is a coordinator's state in one file: three lines of text, then the bytes of an
// SQLite database, and then the bundles of users' code, each behind a line with its address and size.
//
//   rekindle-backup
//   {"format":1,"needs_release":"0.2.0",...,"bytes":40960,"xxh3_128":"..."}
//   XXH3-128 of the line above
//
// A backup without bundles has format 1, which older releases read as well. One with bundles has format 2.
//
// A newer format keeps these three lines and the fields `format` and `needs_release`. So a release that cannot read a
// backup can say which release can. The hashes detect accidents, and are no defence against a forger.
#ifndef REKINDLE_COORDINATOR_RESTORING_BACKUP_FILE_H_
#define REKINDLE_COORDINATOR_RESTORING_BACKUP_FILE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/agreed/cluster_identity.h"
#include "common/digest/hash.h"

namespace rekindle::coordinator {

// The second line of a backup has at most `kMaxBackupHeaderBytes` bytes.
inline constexpr size_t kMaxBackupHeaderBytes = 4096;

struct BackupHeader {
  common::ClusterIdentity identity;
  // `taken_at` is when the backup was taken, in Unix seconds.
  int64_t taken_at = 0;
  // `release` is the release of Rekindle that took the backup.
  std::string release;
  // `schema` is the schema version of the database.
  int schema = 0;
  // `needs_release` is the oldest release that reads the schema, and empty if that is not known.
  std::string needs_release;
  // `bytes` and `xxh3_128` are the size and the hash of the database.
  int64_t bytes = 0;
  std::string xxh3_128;
  // `bundles` is the number of bundles behind the database.
  int bundles = 0;
};

// Returns the three lines that are written before the database.
std::string BackupPreamble(const BackupHeader& header);
// Returns the line that is written before a bundle of `bytes` packed bytes.
std::string BundleLine(const std::string& address, int64_t bytes);

// A BackupReader takes a backup in pieces of any size, and passes the database in it to the sink piece by piece. Only
// Finish says whether all of the backup was right, so what the sink has got may be damaged. The reader holds no more
// than the three lines of text and one packed bundle in memory. It is thread-compatible.
//
// After an error every call returns the same error: INVALID_ARGUMENT (the file is no backup), DATA_LOSS (damaged, cut
// off, or with bytes after its end), FAILED_PRECONDITION (a newer format, with the release to install), or an error of
// the sink.
class BackupReader {
 public:
  using Sink = std::function<absl::Status(std::string_view)>;

  // Takes a whole packed bundle, which may be damaged or another one than its address says.
  using BundleSink = std::function<absl::Status(const std::string& address, const std::string& packed)>;

  explicit BackupReader(
      Sink sink, BundleSink bundles = [](const std::string&, const std::string&) { return absl::OkStatus(); })
      : sink_(std::move(sink)), bundle_sink_(std::move(bundles)) {}

  absl::Status Take(std::string_view piece);
  // Returns the header if all of the backup was right. The caller must call Finish once, after the last piece.
  absl::StatusOr<BackupHeader> Finish();

 private:
  absl::Status TakeAny(std::string_view piece);
  absl::Status TakeContent(std::string_view piece);
  // Takes the bytes behind the database.
  absl::Status TakeBundles(std::string_view piece);
  absl::Status TakeBundleLine();
  absl::Status CheckEnd() const;

  const Sink sink_;
  const BundleSink bundle_sink_;
  absl::Status status_;
  // Until the header is known, `preamble_` holds the beginning of the backup, as far as it was read. That may be more
  // than the three lines of text.
  std::string preamble_;
  std::optional<BackupHeader> header_;
  common::Hasher hasher_;
  // `taken_` counts the bytes of the database that were handed on.
  int64_t taken_ = 0;
  // `bundle_` is the line of the next bundle, and then its bytes, as far as they were read. `address_` is empty until
  // the line was read, and `bundle_bytes_` is the size that it names.
  std::string bundle_;
  std::string address_;
  size_t bundle_bytes_ = 0;
  int bundles_taken_ = 0;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_RESTORING_BACKUP_FILE_H_
