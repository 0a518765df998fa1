// Keeps the bundles of the jobs of a node unpacked in the node's folder: <dir>/bundles/ADDRESS, and beside it the
// packed form, which the checkpoint service puts into the stores of the jobs.
//
// Jobs with the same bundle share one folder. Nobody may write it, and it is compared with the packed form, byte for
// byte, before an agent uses it for the first time.
#ifndef REKINDLE_WORKER_AGENT_BUNDLES_BUNDLE_KEEPER_H_
#define REKINDLE_WORKER_AGENT_BUNDLES_BUNDLE_KEEPER_H_

#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/files/disk_space.h"
#include "common/process/waker.h"
#include "common/sync/mutex.h"
#include "common/time/retry.h"
#include "rekindle/v1/node.pb.h"

namespace rekindle::agent {

// A BundleKeeper is thread-safe. It works on a thread of its own, one bundle after the other.
class BundleKeeper {
 public:
  struct Options {
    // `folder` is the node's folder.
    std::string folder;
    // So many bundles stay that no job of the node needs, because such a job may come back. On a disk that is nearly
    // full none stays.
    size_t spare = 8;
    common::RetryPolicy retry = {.first_seconds = 0.2, .longest_seconds = 10};
    std::function<absl::StatusOr<common::DiskSpace>(const std::string&)> space = common::SpaceOf;
  };

  // Gets the piece of a job's bundle at an offset. The keeper fills in `job_uid`, `address` and `offset`.
  using Get = std::function<absl::StatusOr<v1::GetBundleReply>(v1::GetBundleRequest)>;

  // `waker` is woken when a bundle is ready, and when Trouble() has another answer. It must outlive this object.
  BundleKeeper(Options options, const common::Waker* waker) : options_(std::move(options)), waker_(waker) {}
  ~BundleKeeper() { Stop(); }
  BundleKeeper(const BundleKeeper&) = delete;

  // Starts the thread. `cancel` makes a call of `get` that is in flight return.
  void Run(Get get, std::function<void()> cancel);
  // Ends the thread. Stop is idempotent.
  void Stop();

  // Sets the bundles that jobs of the node need, by address, each with the uid of such a job.
  void Want(std::map<std::string, std::string> wanted);
  // Returns whether the bundle is there, whole and as its address says.
  bool IsReady(const std::string& address) const;
  // Returns why a bundle that is wanted is not there, in printable ASCII. It is empty while the bundle is on its way. A
  // failure that the next attempt mends is not told.
  std::string Trouble(const std::string& address) const;

 private:
  // Describes the attempts that have failed to make a bundle ready. Those that found the coordinator away are logged
  // and do not count.
  struct Failures {
    int count = 0;
    std::string words;
    std::string logged;
  };

  void Loop();
  // Notes how an attempt to make the bundle ready has ended.
  void Note(const std::string& address, const std::string& job_uid, const absl::Status& provided)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Makes the bundle ready.
  absl::Status Provide(const std::string& address, const std::string& job_uid);
  absl::Status Fetch(const std::string& address, const std::string& job_uid);
  void RemoveUnwanted(const std::set<std::string>& wanted);
  // Waits for news or, after a failure, for the time of the next attempt. Returns false when the keeper stops.
  bool Wait(int failures);

  const Options options_;
  const common::Waker* const waker_;
  Get get_;
  std::function<void()> cancel_;

  mutable common::Mutex mutex_;
  common::CondVar changed_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_news_ ABSL_GUARDED_BY(mutex_) = false;
  std::map<std::string, std::string> wanted_ ABSL_GUARDED_BY(mutex_);
  std::set<std::string> ready_ ABSL_GUARDED_BY(mutex_);
  // `failures_` has bundles that are wanted and not there, by address.
  std::map<std::string, Failures> failures_ ABSL_GUARDED_BY(mutex_);
  // Only the keeper's thread uses `random_`.
  std::minstd_rand random_{std::random_device{}()};
  std::thread thread_;
};

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_BUNDLES_BUNDLE_KEEPER_H_
