// Archives behind a service's calls: copying to a cold store may take hours, a commit must not.
#ifndef REKINDLE_CHECKPOINT_ARCHIVER_H_
#define REKINDLE_CHECKPOINT_ARCHIVER_H_

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "checkpoint/archive.h"
#include "checkpoint/store_uri.h"
#include "common/metrics.h"

namespace rekindle::checkpoint {

// Thread-safe.
class Archiver {
 public:
  // Both must outlive it.
  Archiver(StoreOpener& stores, common::Metrics& metrics);
  // Gives up between two shards; the next commit goes on there.
  ~Archiver();

  // Looks, some time soon, for what is due. Of several calls for one job that wait, the newest counts.
  void Due(const std::string& store, const std::string& job_uid, const Retention& retention);

 private:
  struct Job {
    std::string store;
    Retention retention;
  };

  void Loop(const std::stop_token& stop);
  void Archive(const std::string& job_uid, const Job& job, const std::stop_token& stop);

  StoreOpener& stores_;
  common::Metrics& metrics_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<std::string, Job> due_;  // By job.
  std::jthread thread_;
};

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_ARCHIVER_H_
