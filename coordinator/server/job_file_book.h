// The files that rank 0 of each job fetches for the job's checkpoint store (core/job_file.h): of what is durable, and
// made when somebody asks for them, on the thread that asks. They are asked for from the transport's threads, beside
// the loop, so that they are answered also while the state store cannot be written.
//
// Thread-safe.
#ifndef REKINDLE_COORDINATOR_SERVER_JOB_FILE_BOOK_H_
#define REKINDLE_COORDINATOR_SERVER_JOB_FILE_BOOK_H_

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "absl/status/statusor.h"
#include "common/cluster_identity.h"
#include "rekindle/v1/store.pb.h"

namespace rekindle::coordinator {

class JobFileBook {
 public:
  static constexpr double kRenewSeconds = 2;  // A record that says no more than progress is taken over so often.
  static constexpr double kOverSeconds = 60;  // A job that ended longer before this process began is nobody's any more.
  static constexpr size_t kMaxOver = 64;      // Of so many jobs that are over the files can still be had.

  struct File {
    std::string text;    // As it is to lie in the store.
    std::string digest;  // XXH3-128 of it.
    bool over = false;
  };

  explicit JobFileBook(const common::ClusterIdentity& identity);

  // The identity of those that are made from now on.
  void SetIdentity(const common::ClusterIdentity& identity);
  // `record` is durable at that Unix time. It is copied, at once where state or generation has changed, unless the job
  // has not begun: nobody asks for the file of a job that has had no generation.
  void Set(const v1::JobRecord& record, double unix_now);
  // There is no such job any more.
  void Forget(const std::string& job_uid);
  // Null: no such job, one that has not begun, another secret, or its file would be too large.
  std::shared_ptr<const File> Newest(const std::string& job_uid, const std::string& job_secret);

 private:
  struct Entry {
    std::shared_ptr<const v1::JobRecord> record;
    double at = 0;
    bool made = false;
    std::shared_ptr<const File> file;
    bool told = false;  // Why there is none.
  };

  std::mutex mutex_;
  common::ClusterIdentity identity_;
  std::unordered_map<std::string, Entry> entries_;
  std::deque<std::string> over_;  // Uids of those in entries_, oldest first.
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_JOB_FILE_BOOK_H_
