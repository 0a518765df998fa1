// Copies the coordinator's records, and brings the copy back after the records have changed.
#include <algorithm>
#include <utility>

#include "coordinator/core/record/job_json.h"
#include "coordinator/core/taken_over/revival.h"
#include "tests/simulation/sim_cluster.h"

namespace rekindle::core::simulation {
namespace {

// A coordinator whose records were brought back listens for `kListenSeconds` before it decides, which is longer than
// any process is frozen.
constexpr double kListenSeconds = 10;
constexpr double kLookSeconds = 15;

}  // namespace

void SimCluster::PlanCopies() {
  for (int i = 0; i < options_.copies; ++i) {
    const double taken_at = chance_.Uniform(1, options_.chaos_seconds / 2);
    queue_.At(taken_at, [this] {
      Note("the records are copied");
      copied_records_ = records_;
      copied_node_records_ = node_records_;
    });
    queue_.At(chance_.Uniform(taken_at, options_.chaos_seconds), [this] { BringBackCopy(); });
  }
}

void SimCluster::BringBackCopy() {
  if (copied_records_.empty()) return;
  Note("the copy is brought back");
  if (options_.from_stores) {
    if (!ReviveFromStores()) return;
    tally_.Count(Fault::kBroughtBackFromStores);
  } else {
    records_ = copied_records_;
    node_records_ = copied_node_records_;
    tally_.Count(Fault::kCopyBroughtBack);
  }
  ++epoch_;
  brought_back_at_ = queue_.now();
  listens_first_ = true;
  for (auto& [uid, job] : jobs_) {
    if (!job.submitted || HasRecord(job)) continue;
    LookForLost(job);
    if (chance_.Happens(0.35)) KillNodesOf(job);
  }
  Crash(chance_.Uniform(0.05, 3));
}

// Makes the coordinator's records from what the jobs' stores keep, which is each job's record as it was when the copy
// was made. Returns false if a job has no checkpoint yet.
bool SimCluster::ReviveFromStores() {
  std::map<std::string, v1::JobRecord> revived;
  for (const auto& [uid, record] : copied_records_) {
    // When the copy was made, the coordinator had not yet handled the submission of this job.
    if (record.job().uid().empty()) continue;
    int generation = 0;
    for (const SavedCheckpoint& saved : jobs_.at(uid).store) generation = std::max(generation, saved.generation);
    if (generation == 0) return false;
    const v1::JobFile file = MakeJobFile(record, {}, queue_.now() + wall_offset_);
    revived[uid] = Revive(
        file, {.secret = record.secret(), .store_generation = generation, .unix_now = queue_.now() + wall_offset_});
    queue_.At(queue_.now() + kLookSeconds, [this, uid = uid] { LookForOld(jobs_.at(uid)); });
  }
  records_ = std::move(revived);
  node_records_.clear();
  return true;
}

// Checks again and again whether any process that ran for the job before the records were lost still runs. Once none
// does, the user tells the coordinator so.
void SimCluster::LookForOld(SimJob& job) {
  const v1::JobRecord& record = records_[job.uid];
  // While the job was being recovered, the coordinator refused the user's requests, so a job that is still paused is
  // resumed now.
  if (!record.has_recovered()) {
    if (!lossy_ && coordinator_up_ && record.want_paused()) Feed(ResumeJob{.uid = job.uid});
    return;
  }
  queue_.At(queue_.now() + kLookSeconds, [this, &job] { LookForOld(job); });
  const bool any_lives = std::any_of(processes_.begin(), processes_.end(), [&](const auto& entry) {
    const Process& process = entry.second;
    const v1::TrainerPhase phase = process.report.phase();
    return process.alive && process.job == &job && phase != v1::TRAINER_STARTING && phase != v1::TRAINER_READY &&
           process.report.generation() >= records_[job.uid].store_generation();
  });
  if (any_lives || !coordinator_up_) return;
  tally_.Count(Fault::kOldGivenUp);
  Feed(ResumeJob{.uid = job.uid, .old_is_gone = true});
}

void SimCluster::Listen() {
  queue_.At(queue_.now() + kListenSeconds, [this, life = coordinator_life_] {
    if (coordinator_up_ && life == coordinator_life_) Feed(ListenedFirst{{epoch_, 0}});
  });
}

}  // namespace rekindle::core::simulation
