#include "coordinator/restoring/recover.h"

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/files/file.h"
#include "common/text/printable.h"
#include "coordinator/bundles/bundle_shelf.h"
#include "coordinator/core/record/job_json.h"
#include "coordinator/core/taken_over/revival.h"
#include "coordinator/folder/new_data_folder.h"
#include "coordinator/spec/job_secret.h"
#include "coordinator/store/cluster_record.h"
#include "coordinator/store/record_keys.h"
#include "coordinator/store/sqlite_store.h"

namespace rekindle::coordinator {
namespace {

// The epoch of a recovered cluster is more than `kUnseenEpochs` above the highest epoch in the files. That leaves room
// for epochs of which no file says anything: those of coordinators that were lost before any job of theirs had saved.
constexpr int kUnseenEpochs = 1000;
absl::StatusOr<v1::JobFile> ReadFile(checkpoint::Store& store, const std::string& uid) {
  const absl::StatusOr<std::string> inner = store.ReadJobFile(uid);
  if (absl::IsNotFound(inner.status())) {
    return absl::NotFoundError("there is no job.json beside its checkpoints: submit the job anew, and copy them");
  }
  if (!inner.ok()) return inner.status();
  absl::StatusOr<v1::JobFile> file = core::ParseJobFile(*inner);
  if (!file.ok()) return file;
  const common::ClusterIdentity identity = common::FromMessage(file->identity());
  if (!identity.cluster.empty() && identity.epoch <= core::kMostNumber) return file;
  return absl::DataLossError("job.json names no cluster: bring a copy of it back, or submit the job anew");
}

absl::Status LookAt(checkpoint::Store& store, StoredJob* job) {
  const auto names = store.ListNames(job->uid);
  if (!names.ok()) return names.status();
  const absl::StatusOr<int> generation = store.NewestGeneration(job->uid);
  if (!generation.ok()) return generation.status();
  job->generation = *generation;
  if (job->generation > core::kMostNumber) {
    return absl::DataLossError("its store names a generation that cannot be: remove what has that number");
  }
  if (!names->empty()) job->step = names->front().step;
  absl::StatusOr<v1::JobFile> file = ReadFile(store, job->uid);
  if (!file.ok()) return file.status();
  job->file = *std::move(file);
  return absl::OkStatus();
}

bool IsOver(const StoredJob& job) { return job.file.over(); }

std::string ClusterOf(const StoredJob& job) { return common::FromMessage(job.file.identity()).cluster; }

absl::StatusOr<std::string> ChooseCluster(const std::vector<StoredJob>& jobs, const std::string& wanted) {
  std::map<std::string, int> clusters;
  for (const StoredJob& job : jobs) {
    if (job.problem.ok()) ++clusters[ClusterOf(job)];
  }
  if (!wanted.empty() && clusters.count(wanted) > 0) return wanted;
  if (!wanted.empty()) {
    return absl::NotFoundError(absl::StrCat("no job there is of cluster ", common::Printable(wanted, 64)));
  }
  if (clusters.empty()) return absl::NotFoundError("no job there can be brought back");
  if (clusters.size() == 1) return clusters.begin()->first;
  std::vector<std::string> each;
  for (const auto& [cluster, count] : clusters) each.push_back(absl::StrCat(cluster, " (", count, ")"));
  return absl::FailedPreconditionError(
      absl::StrCat("the jobs there are of several clusters: name one by --cluster: ", absl::StrJoin(each, ", ")));
}

bool IsNamed(const StoredJob& job, const std::set<std::string>& names) {
  return names.count(job.uid) > 0 || names.count(job.file.record().job().name()) > 0;
}

absl::Status CheckRun(const std::vector<StoredJob>& jobs, const RecoverOptions& options) {
  for (const std::string& name : options.run) {
    std::vector<std::string> named;
    for (const StoredJob& job : jobs) {
      if (job.problem.ok() && !IsOver(job) && IsNamed(job, {name})) named.push_back(job.uid);
    }
    if (named.size() == 1) continue;
    if (named.size() > 1) {
      return absl::InvalidArgumentError(absl::StrCat("several jobs that are not over have the name ",
                                                     common::Printable(name, 64),
                                                     ": give the uid of one: ", absl::StrJoin(named, ", ")));
    }
    return absl::NotFoundError(
        absl::StrCat("no job ", common::Printable(name, 64), " there can be brought back and is not over"));
  }
  if ((options.run.empty() && !options.run_all) || options.old_is_gone) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "whether trainers of these jobs live is not known here, and two of one job must not step: give --old-is-gone "
      "where "
      "none runs any more. Else bring them back without --run: when the coordinator is started, trainers that live are "
      "taken over and go on");
}

}  // namespace

absl::StatusOr<std::vector<StoredJob>> ReadStoredJobs(checkpoint::Store& store, const std::string& name) {
  const absl::StatusOr<std::vector<std::string>> uids = store.ListJobs();
  if (!uids.ok()) return uids.status();
  std::vector<StoredJob> jobs;
  for (const std::string& uid : *uids) {
    StoredJob job;
    job.uid = uid;
    job.store = name;
    job.problem = LookAt(store, &job);
    jobs.push_back(std::move(job));
  }
  std::sort(jobs.begin(), jobs.end(), [](const StoredJob& a, const StoredJob& b) { return a.uid < b.uid; });
  return jobs;
}

std::vector<StoredJob> NewestOfEach(std::vector<StoredJob> jobs) {
  const auto age = [](const StoredJob& job) {
    return std::tuple(job.problem.ok(), job.file.record().membership().generation(), job.file.written_at(), job.step);
  };
  std::map<std::string, StoredJob> newest;
  for (StoredJob& job : jobs) {
    const auto known = newest.find(job.uid);
    if (known == newest.end()) {
      newest.emplace(job.uid, std::move(job));
    } else {
      const int generation = std::max(known->second.generation, job.generation);
      if (age(known->second) < age(job)) known->second = std::move(job);
      known->second.generation = generation;
    }
  }
  jobs.clear();
  for (auto& [uid, job] : newest) jobs.push_back(std::move(job));
  return jobs;
}

absl::StatusOr<Recovered> PlanRecovery(std::vector<StoredJob> jobs, const RecoverOptions& options) {
  const absl::StatusOr<std::string> cluster = ChooseCluster(jobs, options.cluster);
  if (!cluster.ok()) return cluster.status();
  for (StoredJob& job : jobs) {
    if (!job.problem.ok() || ClusterOf(job) == *cluster) continue;
    job.problem = absl::FailedPreconditionError(absl::StrCat("it is of another cluster, ", ClusterOf(job)));
  }
  if (absl::Status run = CheckRun(jobs, options); !run.ok()) return run;
  Recovered recovered;
  common::ClusterIdentity highest{*cluster, 0, 0};
  for (StoredJob& job : jobs) {
    if (!job.problem.ok()) {
      recovered.left.push_back(std::move(job));
      continue;
    }
    const common::ClusterIdentity identity = common::FromMessage(job.file.identity());
    if (common::IsLater(identity, highest)) highest = identity;
    const bool runs = !IsOver(job) && (options.run_all || IsNamed(job, options.run));
    v1::JobRecord record = core::Revive(job.file, {.secret = NewJobSecret(),
                                                   .store_generation = job.generation,
                                                   .old_is_gone = options.old_is_gone,
                                                   .runs = runs,
                                                   .unix_now = options.unix_now});
    recovered.jobs.push_back({std::move(job), std::move(record)});
  }
  highest.epoch += kUnseenEpochs;
  recovered.identity = common::NextEpoch(highest, {});
  std::stable_sort(recovered.jobs.begin(), recovered.jobs.end(), [](const RecoveredJob& a, const RecoveredJob& b) {
    return a.record.job().status().submitted_at() < b.record.job().status().submitted_at();
  });
  return recovered;
}

absl::StatusOr<std::string> MakeRecovered(const Recovered& recovered, const std::string& data,
                                          const ReadBundle& read_bundle,
                                          std::map<std::string, absl::Status>* without_code) {
  absl::StatusOr<NewDataFolder> folder = NewDataFolder::Open(data);
  if (!folder.ok()) return folder.status();
  // The database's file is made before SQLite opens it, for its owner only, because it holds the secrets of all jobs.
  auto file = common::PosixFileSystem()->Create(folder->unfinished());
  if (!file.ok()) return file.status();
  if (absl::Status closed = (*file)->Close(); !closed.ok()) return closed;
  {
    const absl::StatusOr<std::unique_ptr<SqliteStore>> store = SqliteStore::Open(folder->unfinished());
    if (!store.ok()) return store.status();
    Transaction all{.writes = ToWrites({.identity = recovered.identity, .listen_first = true}), .events = {}};
    for (const RecoveredJob& job : recovered.jobs) {
      all.writes.push_back(
          {absl::StrCat(kJobKeys, job.record.job().uid()), job.record.SerializeAsString(), std::nullopt});
    }
    if (const auto committed = (*store)->Commit(all); !committed.ok()) return committed.status();
  }
  for (const RecoveredJob& job : recovered.jobs) {
    const std::string& bundle = job.record.job().status().resolved_spec().model().bundle();
    if (bundle.empty()) continue;
    const absl::StatusOr<std::string> packed = read_bundle(job.stored, bundle);
    const absl::Status kept = packed.ok() ? PlaceBundle(folder->path(), bundle, *packed) : packed.status();
    if (!kept.ok()) without_code->emplace(job.stored.uid, kept);
  }
  if (absl::Status placed = folder->Place(); !placed.ok()) return placed;
  return folder->path();
}

}  // namespace rekindle::coordinator
