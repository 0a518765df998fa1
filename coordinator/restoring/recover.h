// Makes a coordinator's data folder from what checkpoint stores keep of their jobs (job.json). It is for the day on
// which the coordinator's machine is gone and there is no backup.
//
// Some things cannot be brought back: events, what providers were asked for, and nodes, which register again. Jobs
// cannot be brought back that have no checkpoint yet, or whose files were all written by a release before 0.2.
#ifndef REKINDLE_COORDINATOR_RESTORING_RECOVER_H_
#define REKINDLE_COORDINATOR_RESTORING_RECOVER_H_

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checkpoint/store/store.h"
#include "common/agreed/cluster_identity.h"
#include "rekindle/v1/job_file.pb.h"
#include "rekindle/v1/store.pb.h"

namespace rekindle::coordinator {

struct StoredJob {
  std::string uid;
  // `store` names the store in which the job was found, in the words of the caller.
  std::string store;
  // `problem` says why the job cannot be brought back. If the job's file cannot be read, `file` has only defaults.
  v1::JobFile file;
  absl::Status problem;
  // `step` is the step of the newest checkpoint, according to the name of that checkpoint alone, or -1 when there is
  // none.
  int step = -1;
  // `generation` is the highest generation of the job that the store knows of.
  int generation = 0;
};

// Returns all jobs of which the store has checkpoints, sorted by uid. `name` is what messages call the store.
// ReadStoredJobs returns an error only when the store itself cannot be read.
absl::StatusOr<std::vector<StoredJob>> ReadStoredJobs(checkpoint::Store& store, const std::string& name);

// Keeps only the newest version of a job that several stores have. The result is sorted by uid.
std::vector<StoredJob> NewestOfEach(std::vector<StoredJob> jobs);

struct RecoverOptions {
  // Only the jobs of `cluster` are recovered. If `cluster` is empty, all jobs must be of one cluster.
  std::string cluster;
  // `run` holds names and uids of the jobs that go on at once, without a user's resume.
  std::set<std::string> run;
  bool run_all = false;
  // `old_is_gone` says that no trainer of the recovered jobs runs any more.
  bool old_is_gone = false;
  double unix_now = 0;
};

struct RecoveredJob {
  StoredJob stored;
  // `record` is the job's record in the new data folder.
  v1::JobRecord record;
};

struct Recovered {
  // `identity` is the identity of the recovered cluster. Its epoch is above all epochs that the files name.
  common::ClusterIdentity identity;
  // `jobs` is in the order of submission. It includes jobs that are over, because their trainers and users may still
  // ask about them.
  std::vector<RecoveredJob> jobs;
  // `left` holds the jobs that are not brought back, each with its problem.
  std::vector<StoredJob> left;
};

// Plans what the new coordinator has to know. Jobs that are not over are PAUSED and wait for their previous trainers,
// unless the options say otherwise. They are charged for the time since their files were written, at the rate that they
// had then.
//
// The errors are FAILED_PRECONDITION (the files are of several clusters and none is named, or jobs have to run and
// nobody says that their trainers are gone) and NOT_FOUND (there is nothing to bring back, no such job, or no such
// cluster).
absl::StatusOr<Recovered> PlanRecovery(std::vector<StoredJob> jobs, const RecoverOptions& options);

// Makes `data` (mode 0700) a data folder that holds `recovered`, and returns its absolute path. The folder is durable
// on return. new_data_folder.h describes the errors.
//
// `read_bundle` returns the packed bundle with the code of a job, which goes into the folder as well. Jobs whose bundle
// cannot be brought back are in the folder without it, and `without_code` tells why, by the uids of the jobs.
using ReadBundle = std::function<absl::StatusOr<std::string>(const StoredJob& job, const std::string& address)>;
absl::StatusOr<std::string> MakeRecovered(const Recovered& recovered, const std::string& data,
                                          const ReadBundle& read_bundle,
                                          std::map<std::string, absl::Status>* without_code);

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_RESTORING_RECOVER_H_
