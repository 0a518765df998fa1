#include "tests/simulation/faults/copies.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "coordinator/core/record/job_json.h"
#include "coordinator/core/taken_over/revival.h"

namespace rekindle::core::simulation {

void Copies::Plan() {
  for (int i = 0; i < world_.options.copies; ++i) {
    const double taken_at = world_.chance.Uniform(1, world_.options.chaos_seconds / 2);
    world_.queue.At(taken_at, [this] {
      world_.journal.Note("the records are copied");
      copied_jobs_ = coordinator_.records().jobs;
      copied_nodes_ = coordinator_.records().nodes;
    });
    world_.queue.At(world_.chance.Uniform(taken_at, world_.options.chaos_seconds), [this] { BringBack(); });
  }
}

void Copies::BringBack() {
  if (copied_jobs_.empty()) return;
  world_.journal.Note("the copy is brought back");
  if (world_.options.from_stores) {
    if (!ReviveFromStores()) return;
    world_.journal.Count(Fault::kBroughtBackFromStores);
  } else {
    coordinator_.database().BringBack(copied_jobs_, copied_nodes_);
    world_.journal.Count(Fault::kCopyBroughtBack);
  }
  for (auto& [uid, job] : world_.jobs) {
    if (!job.submitted || coordinator_.records().HasJob(job.uid)) continue;
    lost_jobs_.LookFor(job);
    if (world_.chance.Happens(0.35)) KillNodesOf(job);
  }
  coordinator_.Crash(world_.chance.Uniform(0.05, 3));
}

bool Copies::ReviveFromStores() {
  std::map<std::string, v1::JobRecord> revived;
  for (const auto& [uid, record] : copied_jobs_) {
    // When the copy was made, the coordinator had not yet handled the submission of this job.
    if (record.job().uid().empty()) continue;
    int generation = 0;
    for (const SavedCheckpoint& saved : world_.jobs.at(uid).store) generation = std::max(generation, saved.generation);
    if (generation == 0) return false;
    const v1::JobFile file = MakeJobFile(record, {}, coordinator_.clock().UnixNow());
    revived[uid] = Revive(
        file, {.secret = record.secret(), .store_generation = generation, .unix_now = coordinator_.clock().UnixNow()});
    recovered_jobs_.Follow(world_.jobs.at(uid));
  }
  coordinator_.database().BringBack(std::move(revived), {});
  return true;
}

void Copies::KillNodesOf(const SimJob& job) {
  for (auto& [name, node] : world_.nodes) {
    const std::vector<Process*> running = world_.Running(node);
    const bool is_of = std::any_of(running.begin(), running.end(), [&](const Process* p) { return p->job == &job; });
    if (is_of) machines_.Kill(node, false);
  }
}

}  // namespace rekindle::core::simulation
