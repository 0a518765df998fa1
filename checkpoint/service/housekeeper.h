// Does the work that follows a commit of a checkpoint in threads of its own: collecting the checkpoints that do not
// stay, and archiving, which may take hours. A commit must wait for neither.
#ifndef REKINDLE_CHECKPOINT_SERVICE_HOUSEKEEPER_H_
#define REKINDLE_CHECKPOINT_SERVICE_HOUSEKEEPER_H_

#include <map>
#include <string>
#include <thread>

#include "checkpoint/store/archive.h"
#include "checkpoint/store/store_opener.h"
#include "checkpoint/store/store_room.h"
#include "common/metrics/metrics.h"
#include "common/sync/mutex.h"

namespace rekindle::checkpoint {

// Counts one failure of the checkpoint service, either of a call or of the work that follows a commit.
void CountFailure(common::Metrics& metrics, const char* operation);

// Collects and archives checkpoints in the background. The class is thread-safe.
class Housekeeper {
 public:
  static constexpr double kMakeRoomSeconds = 60;

  // The caller keeps ownership of `stores`, `room` and `metrics`, which must outlive the Housekeeper.
  Housekeeper(StoreOpener& stores, const StoreRoom& room, common::Metrics& metrics);
  // The destructor interrupts archiving between two shards. The next commit continues the archiving there.
  ~Housekeeper();

  // Schedules the work that is due after a commit of `generation`, to be done some time soon. If several calls for one
  // job are waiting, only the newest counts.
  void Due(const std::string& store, const std::string& job_uid, int generation, const Retention& retention);

  // Removes shards that nobody needs, before it returns, for a save of `generation` that finds no room. For each job
  // this happens at most once in kMakeRoomSeconds. The retention rules are those of the job's newest commit on this
  // node. Without such a commit, only shards that no checkpoint names are removed. A failure goes to the log and the
  // metrics. Calls wait for each other, so that each finds the room that the one before it has made.
  void MakeRoom(const std::string& store, const std::string& job_uid, int generation);

 private:
  struct Job {
    std::string store;
    int generation = 0;
    Retention retention;
  };
  using Work = absl::Status (Housekeeper::*)(const std::string& job_uid, const Job& job, const std::stop_token& stop);
  // `Line` is one kind of background work in a thread of its own, so that collecting never waits for archiving.
  struct Line {
    const char* operation;
    Work work;
    std::jthread thread = {};
  };

  // Holds what the housekeeper knows about a job that has committed on this node, or whose save has found no room in
  // the store.
  struct Known {
    Job newest;
    // `made_room` is the time in seconds, on the steady clock, at which room was last made for the job.
    double made_room = -kMakeRoomSeconds;
  };

  Known& Remember(const std::string& job_uid) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Loop(const std::stop_token& stop, Line& line);
  void Tell(const std::string& job_uid, const char* operation, const absl::Status& status);
  absl::Status Collect(const std::string& job_uid, const Job& job, const std::stop_token& stop);
  absl::Status Archive(const std::string& job_uid, const Job& job, const std::stop_token& stop);

  StoreOpener& stores_;
  const StoreRoom& room_;
  common::Metrics& metrics_;
  // `making_room_` is held while MakeRoom() collects. It guards no field.
  common::Mutex making_room_ ABSL_ACQUIRED_BEFORE(mutex_);
  common::Mutex mutex_;
  // `known_` maps the uid of each job to what the housekeeper knows about it.
  std::map<std::string, Known> known_ ABSL_GUARDED_BY(mutex_);
  // `due_` maps each kind of work to the jobs, by uid, for which it is due.
  std::map<const Line*, std::map<std::string, Job>> due_ ABSL_GUARDED_BY(mutex_);
  common::CondVar changed_;
  Line collecting_{"collect", &Housekeeper::Collect};
  Line archiving_{"archive", &Housekeeper::Archive};
};

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_SERVICE_HOUSEKEEPER_H_
