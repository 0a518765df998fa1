// A checkpoint store in memory that the trainers of a test share, without a service.
#ifndef REKINDLE_WORKER_TRAIN_TESTING_MEMORY_CHECKPOINTS_H_
#define REKINDLE_WORKER_TRAIN_TESTING_MEMORY_CHECKPOINTS_H_

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "checkpoint/client.h"

namespace rekindle::train {

// Thread-safe. Must outlive its clients.
class MemoryCheckpoints {
 public:
  std::unique_ptr<checkpoint::CheckpointClient> ClientOf(const std::string& trainer);
  // While broken nothing becomes durable.
  void SetBroken(bool broken);
  // A newer generation than this one has begun: nothing of it, or of an older one, is taken.
  void Refuse(int generation);
  // Nobody can look into it.
  void SetUnreadable(bool unreadable);
  // Of all manifests, oldest first.
  std::vector<checkpoint::ManifestName> Names();
  // Empty: nobody has written it.
  std::string job_file();
  // Until somebody has written one that fits; false after 120 s.
  bool AwaitJobFile(const std::function<bool(const std::string& text)>& fits);
  // Of snapshots that training waited for.
  std::set<int> urgent_steps();

 private:
  class Client;
  class Staged;

  void SetJobFile(const std::string& text);  // REQUIRES: mutex_ held.

  std::mutex mutex_;
  std::condition_variable changed_;
  bool broken_ = false;
  bool unreadable_ = false;
  int refused_ = 0;
  std::string job_file_;
  std::set<int> urgent_steps_;
  std::map<std::string, std::vector<uint8_t>> files_;  // By XXH3.
  std::map<checkpoint::ManifestName, checkpoint::Manifest> manifests_;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_TESTING_MEMORY_CHECKPOINTS_H_
