// Provides a checkpoint store in memory that the trainers of a test share, without a service.
#ifndef REKINDLE_WORKER_TRAIN_TESTING_MEMORY_CHECKPOINTS_H_
#define REKINDLE_WORKER_TRAIN_TESTING_MEMORY_CHECKPOINTS_H_

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "checkpoint/client/client.h"
#include "common/sync/mutex.h"

namespace rekindle::train {

// MemoryCheckpoints is thread-safe and must outlive its clients.
class MemoryCheckpoints {
 public:
  std::unique_ptr<checkpoint::CheckpointClient> ClientOf(const std::string& trainer);
  // While `broken` is set, every save fails, so that nothing becomes durable.
  void SetBroken(bool broken);
  // Makes the store refuse saves of `generation` and older ones, as if a newer generation had begun.
  void Refuse(int generation);
  // While `unreadable` is set, every look into the store fails.
  void SetUnreadable(bool unreadable);
  // Returns the names of all manifests, oldest first.
  std::vector<checkpoint::ManifestName> Names();
  // Returns the names of the states that are kept in the memory of nodes and not in the store, oldest first.
  std::vector<checkpoint::ManifestName> Kept();
  // Forgets all checkpoints, so that another job can use the store. REQUIRES: no client is left.
  void Clear();
  // Returns the text of the job file in the store. It is empty if nobody has written a job file.
  std::string job_file();
  // Waits until a job file is written for which `fits` returns true. Returns false after 120 s.
  bool AwaitJobFile(const std::function<bool(const std::string& text)>& fits);
  // Returns the steps of the urgent saves, for which training waited.
  std::set<int> urgent_steps();

 private:
  class Client;
  class Staged;

  void SetJobFile(const std::string& text) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  common::Mutex mutex_;
  common::CondVar changed_;
  bool broken_ ABSL_GUARDED_BY(mutex_) = false;
  bool unreadable_ ABSL_GUARDED_BY(mutex_) = false;
  int refused_ ABSL_GUARDED_BY(mutex_) = 0;
  std::string job_file_ ABSL_GUARDED_BY(mutex_);
  std::set<int> urgent_steps_ ABSL_GUARDED_BY(mutex_);
  // `files_` holds the planes of all shards in the store, keyed by their XXH3 hashes.
  std::map<std::string, std::vector<uint8_t>> files_ ABSL_GUARDED_BY(mutex_);
  std::map<checkpoint::ManifestName, checkpoint::Manifest> manifests_ ABSL_GUARDED_BY(mutex_);
  std::map<checkpoint::ManifestName, checkpoint::Manifest> kept_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_TESTING_MEMORY_CHECKPOINTS_H_
