// A coordinator's data folder made from what checkpoint stores keep of their jobs (job.json): for the day on which its
// machine is gone and there is no backup.
//
// What cannot be brought back: events; jobs that have no checkpoint yet, or a release before 0.2 wrote all they have;
// nodes, which register again; and what providers were asked for.
#ifndef REKINDLE_COORDINATOR_RECOVER_H_
#define REKINDLE_COORDINATOR_RECOVER_H_

#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checkpoint/store.h"
#include "common/cluster_identity.h"
#include "rekindle/v1/job_file.pb.h"
#include "rekindle/v1/store.pb.h"

namespace rekindle::coordinator {

struct StoredJob {
  std::string uid;
  std::string store;  // Where it was found, as its caller named that.
  v1::JobFile file;   // Nothing but defaults where `problem` says why.
  absl::Status problem;
  int step = -1;       // The newest checkpoint's, by its name alone; -1: there is none.
  int generation = 0;  // The highest that the store knows of.
};

// All jobs that the store has checkpoints of, by uid. An error only where the store itself cannot be read.
absl::StatusOr<std::vector<StoredJob>> ReadStoredJobs(checkpoint::Store& store, const std::string& name);

// Keeps the newest of those jobs that several stores have; sorted by uid.
std::vector<StoredJob> NewestOfEach(std::vector<StoredJob> jobs);

struct RecoverOptions {
  std::string cluster;        // Its jobs are taken; empty: there must be only one.
  std::set<std::string> run;  // Names and uids of those that go on at once.
  bool run_all = false;
  bool old_is_gone = false;  // No trainer of theirs runs any more.
  double unix_now = 0;
};

struct RecoveredJob {
  StoredJob stored;
  v1::JobRecord record;  // This is what the new folder holds.
};

struct Recovered {
  common::ClusterIdentity identity;  // Of the cluster from now on: of an epoch above all that the files name.
  std::vector<RecoveredJob> jobs;    // By submission. Those that are over are there, too, for their trainers and users.
  std::vector<StoredJob> left;       // That are not brought back, each with its problem.
};

// What a coordinator is to know. Jobs that are not over are PAUSED and await their trainers of before, unless the
// options say otherwise; since their file was written they are charged at the rate that they had then.
//
// Errors: FAILED_PRECONDITION (files of several clusters, and none is named; jobs are to run and nobody says that their
// trainers are gone), NOT_FOUND (there is nothing to bring back; no such job, or no such cluster).
absl::StatusOr<Recovered> PlanRecovery(std::vector<StoredJob> jobs, const RecoverOptions& options);

// Makes `data` (mode 0700) a data folder that holds it; gives its absolute path. Durable on return; see
// new_data_folder.h for what else can happen.
absl::StatusOr<std::string> MakeRecovered(const Recovered& recovered, const std::string& data);

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_RECOVER_H_
