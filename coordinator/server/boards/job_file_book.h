// Keeps the files that rank 0 of each job fetches for the job's checkpoint store (coordinator/core/record/job_json.h).
// A file is made from durable records only, when somebody asks for it, on the thread that asks. The transport's threads
// ask the book directly, without the loop's thread, so that they get an answer even while the state store cannot be
// written.
//
// This class is thread-safe.
#ifndef REKINDLE_COORDINATOR_SERVER_BOARDS_JOB_FILE_BOOK_H_
#define REKINDLE_COORDINATOR_SERVER_BOARDS_JOB_FILE_BOOK_H_

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>

#include "absl/status/statusor.h"
#include "common/agreed/cluster_identity.h"
#include "common/sync/mutex.h"
#include "rekindle/v1/store.pb.h"

namespace rekindle::coordinator {

class JobFileBook {
 public:
  // The book keeps a copy of each job's record. Where the new record differs from the copy only in the progress of the
  // job, the copy is renewed at most every `kRenewSeconds` seconds.
  static constexpr double kRenewSeconds = 2;
  // Nobody asks any more for the file of a job that ended more than `kOverSeconds` seconds before the coordinator's
  // process began.
  static constexpr double kOverSeconds = 60;
  // The files of `kMaxOver` finished jobs can still be fetched.
  static constexpr size_t kMaxOver = 64;

  struct File {
    // `text` is the content of job.json exactly as the checkpoint store has to hold it.
    std::string text;
    // `digest` is the XXH3-128 of `text`.
    std::string digest;
    bool over = false;
  };

  explicit JobFileBook(const common::ClusterIdentity& identity);

  // Sets the coordinator's identity, which is written into the files that are made from now on.
  void SetIdentity(const common::ClusterIdentity& identity);
  // Takes note that `record` is durable at the Unix time `unix_now`. The record is copied at once when the state or the
  // generation has changed. It is ignored while the job has not begun, because nobody asks for the file of a job that
  // has had no generation.
  void Set(const v1::JobRecord& record, double unix_now);
  // Drops everything about a job that does not exist any more.
  void Forget(const std::string& job_uid);
  // Returns the newest file of the job. Returns null when there is no such job, when the job has not begun, when the
  // secret is wrong, or when the file would be too large.
  std::shared_ptr<const File> Newest(const std::string& job_uid, const std::string& job_secret);

 private:
  struct Entry {
    std::shared_ptr<const v1::JobRecord> record;
    double at = 0;
    bool made = false;
    std::shared_ptr<const File> file;
    // `told` says that the reason for a missing file was logged.
    bool told = false;
  };

  common::Mutex mutex_;
  common::ClusterIdentity identity_ ABSL_GUARDED_BY(mutex_);
  std::unordered_map<std::string, Entry> entries_ ABSL_GUARDED_BY(mutex_);
  // `over_` lists the uids of the finished jobs in `entries_`, the oldest first.
  std::deque<std::string> over_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_BOARDS_JOB_FILE_BOOK_H_
