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
#include "checkpoint/store_room.h"
#include "checkpoint/store_uri.h"
#include "common/metrics.h"

namespace rekindle::checkpoint {

// Counts one failure of the service: of a call, or of what follows a commit.
void CountFailure(common::Metrics& metrics, const char* operation);

// Thread-safe.
class Housekeeper {
 public:
  static constexpr double kMakeRoomSeconds = 60;

  // None is owned; all must outlive it.
  Housekeeper(StoreOpener& stores, const StoreRoom& room, common::Metrics& metrics);
  // Ends what is under way between two shards; the next commit goes on there.
  ~Housekeeper();

  // Looks, some time soon, for what is due. Of several calls for one job that wait, the newest counts.
  // `generation`: that has committed.
  void Due(const std::string& store, const std::string& job_uid, int generation, const Retention& retention);

  // Collects before it returns, for a save of `generation` that finds no room; at most once in kMakeRoomSeconds for a
  // job. By the rules of the job's newest commit here; without any, only what no checkpoint names goes. A failure is
  // told in log and metrics. Calls wait for each other, so that each finds what the one before it has made.
  void MakeRoom(const std::string& store, const std::string& job_uid, int generation);

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

  // What is known of a job that has committed here, or that has found no room.
  struct Known {
    Job newest;
    double made_room = -kMakeRoomSeconds;  // When room was made for it last, by a steady clock.
  };

  // REQUIRES: mutex_ held.
  Known& Remember(const std::string& job_uid);
  void Loop(const std::stop_token& stop, Line& line);
  void Tell(const std::string& job_uid, const char* operation, const absl::Status& status);
  absl::Status Collect(const std::string& job_uid, const Job& job, const std::stop_token& stop);
  absl::Status Archive(const std::string& job_uid, const Job& job, const std::stop_token& stop);

  StoreOpener& stores_;
  const StoreRoom& room_;
  common::Metrics& metrics_;
  std::mutex making_room_;  // Taken before the other.
  std::mutex mutex_;
  std::map<std::string, Known> known_;  // By job.
  std::condition_variable_any changed_;
  Line collecting_{"collect", &Housekeeper::Collect};
  Line archiving_{"archive", &Housekeeper::Archive};
};

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_HOUSEKEEPER_H_
