#include "tests/simulation/sim_cluster.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace rekindle::core::simulation {
namespace {

// The jobs have `kFinishSeconds` to finish after the faults have stopped.
constexpr double kFinishSeconds = 400;
// The longest time for which a spending grant holds up a job. Its budget ends it in any case.
constexpr double kLongestGrant = 3600;

}  // namespace

void SimCluster::Start() {
  coordinator_.Start();
  for (int i = 0; i < world_.options.nodes; ++i) nodes_.machines.Add();
  for (auto& [uid, job] : world_.jobs) {
    if (job.options.submit_at == 0) users_.submitting.Submit(job);
  }
  // Nothing is disturbed before the first jobs are submitted.
  world_.chaos = true;
  for (auto& [uid, job] : world_.jobs) {
    if (job.options.submit_at > 0) {
      world_.queue.At(job.options.submit_at, [this, &job = job] { users_.submitting.Submit(job); });
    }
  }
  for (const auto& [name, pool] : world_.pools) {
    world_.journal.Note(absl::StrFormat("pool %s may have %d machines of %.3f an hour each", name, pool.options.max,
                                        pool.options.price));
    nodes_.pools.Loop(name);
  }
  if (world_.jobs.size() > 1) InversionLoop();
  faults_.Plan();
}

void SimCluster::InversionLoop() {
  checks_.inversion.Look();
  world_.After(InversionCheck::kLookSeconds, [this] { InversionLoop(); });
}

bool SimCluster::AllAreOver() const {
  const auto& jobs = coordinator_.records().jobs;
  return std::all_of(jobs.begin(), jobs.end(), [this](const auto& entry) {
    const v1::JobState state = entry.second.job().status().state();
    return !world_.jobs.at(entry.first).submitted || state == v1::SUCCEEDED || state == v1::FAILED;
  });
}

std::string SimCluster::FindUnfinished() const {
  std::vector<std::string> unfinished;
  for (const auto& [uid, record] : coordinator_.records().jobs) {
    const v1::JobStatus& status = record.job().status();
    if (status.state() == v1::SUCCEEDED || !world_.jobs.at(uid).submitted) continue;
    unfinished.push_back(absl::StrCat(uid, " does not finish: ", v1::JobState_Name(status.state()), " ",
                                      status.reason(), ", step ", status.step(), " generation ", status.generation()));
  }
  return absl::StrJoin(unfinished, "\n");
}

double SimCluster::FinishBy() const {
  const double end = world_.options.chaos_seconds;
  double granted = end;
  for (const auto& [uid, record] : coordinator_.records().jobs) {
    if (record.job().status().cost().budget() <= 0) continue;
    granted = std::max(granted, record.granted_until() - coordinator_.clock().wall_offset());
  }
  return std::min(granted, end + kLongestGrant) + kFinishSeconds;
}

bool SimCluster::CompareIfSettled() {
  if (!coordinator_.IsSettled()) return false;
  checks_.answers.CompareWithFull();
  return true;
}

std::string SimCluster::Play() {
  const std::string& violation = world_.journal.violation();
  const double end = world_.options.chaos_seconds;
  Start();
  while (violation.empty() && world_.queue.RunOne(end)) {
  }
  if (!violation.empty()) return violation;
  // Most is under way when the faults end, and little once all jobs are over. So the answers are compared then, too.
  bool is_compared = CompareIfSettled();
  faults_.Heal();
  while (violation.empty() && !AllAreOver() && world_.queue.RunOne(FinishBy())) {
    is_compared = is_compared || CompareIfSettled();
  }
  const std::string unfinished = FindUnfinished();
  if (violation.empty()) CompareIfSettled();
  if (violation.empty() && !unfinished.empty()) world_.journal.Violate(unfinished);
  return violation;
}

}  // namespace rekindle::core::simulation
