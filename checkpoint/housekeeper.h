// What follows a commit, behind a service's calls: collecting what does not stay, and archiving, which may take hours.
// A commit must wait for neither.
#ifndef REKINDLE_CHECKPOINT_HOUSEKEEPER_H_
#define REKINDLE_CHECKPOINT_HOUSEKEEPER_H_

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
class Housekeeper {
 public:
  // Both must outlive it.
  Housekeeper(StoreOpener& stores, common::Metrics& metrics);
  // Ends what is under way between two shards; the next commit goes on there.
  ~Housekeeper();

  // Looks, some time soon, for what is due. Of several calls for one job that wait, the newest counts.
  // `generation`: that has committed.
  void Due(const std::string& store, const std::string& job_uid, int generation, const Retention& retention);

 private:
  struct Job {
    std::string store;
    int generation = 0;
    Retention retention;
  };
  using Work = absl::Status (Housekeeper::*)(const std::string& job_uid, const Job& job, const std::stop_token& stop);
  // One kind of work, in a thread of its own: collecting never waits for archiving.
  struct Line {
    const char* operation;
    Work work;
    std::map<std::string, Job> due = {};  // By job.
    std::jthread thread = {};
  };

  void Loop(const std::stop_token& stop, Line& line);
  absl::Status Collect(const std::string& job_uid, const Job& job, const std::stop_token& stop);
  absl::Status Archive(const std::string& job_uid, const Job& job, const std::stop_token& stop);

  StoreOpener& stores_;
  common::Metrics& metrics_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  Line collecting_{"collect", &Housekeeper::Collect};
  Line archiving_{"archive", &Housekeeper::Archive};
};

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_HOUSEKEEPER_H_
