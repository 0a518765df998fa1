// Checks that less important jobs do not keep machines from a job that waits for its minimum. The minimum must fit on
// the machines of those jobs together with what is free.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "tests/simulation/sim_cluster.h"

namespace rekindle::core::simulation {
namespace {

constexpr double kLookSeconds = 0.5;
// `kSettleSeconds` is how long a job may wait although less important work runs. First, orders in two pools may each
// take `kPoolStartSeconds` without result. Then a silent process of the less important job is given up after 11 s, and
// its other processes have `kPauseSeconds` to save the state. At last a trainer needs 6 s to start.
constexpr double kSettleSeconds = 11 + kPauseSeconds + 2 * kPoolStartSeconds + 6;

// Returns whether the job trains. A gang may train on machines of several pools until it has moved into one.
bool Trains(const v1::JobRecord& record) { return record.job().status().state() == v1::RUNNING; }

// Returns whether the job has made all its steps. A finishing job keeps the machines that have its state, whichever job
// waits.
bool IsFinishing(const v1::JobRecord& record) { return record.job().status().state() == v1::FINISHING; }

bool IsOver(const v1::JobRecord& record) {
  const v1::JobState state = record.job().status().state();
  return state == v1::SUCCEEDED || state == v1::FAILED || state == v1::CANCELLED;
}

}  // namespace

void SimCluster::InversionLoop() {
  for (auto& [uid, job] : jobs_) CheckInversion(job);
  queue_.At(queue_.now() + kLookSeconds, [this] { InversionLoop(); });
}

bool SimCluster::IsUsable(const SimNode& node) const {
  const auto known = node_records_.find(node.name);
  return node.up && node.agent && !node.draining && node.unheard_until <= queue_.now() &&
         known != node_records_.end() && !known->second.draining();
}

// Returns a less important job, and the node on which its trainers keep `job` from its minimum. The result is empty if
// no job does that or if `job` does not wait.
std::string SimCluster::RunsInstead(const SimJob& job) {
  const v1::JobRecord& record = records_[job.uid];
  // A job with a budget does not count, because it may be waiting for its budget.
  if (job.options.budget > 0) return "";
  if (!job.submitted || record.job().uid().empty() || IsOver(record) || Trains(record) || IsFinishing(record) ||
      record.want_paused())
    return "";
  const int min = std::max(1, job.options.min);
  const bool gang = job.options.min == job.options.max && min > 1;
  // `held` and `room` count slots by place. All workers of a gang must run in one place, which is a pool or the
  // machines that nobody ordered.
  std::map<std::string, int> held, room;
  std::string below;
  for (const auto& [name, node] : nodes_) {
    if (!IsUsable(node)) continue;
    const std::string place = gang ? node.pool : "";
    for (size_t slot = 0; slot < node.slots.size(); ++slot) {
      const std::string wanted = WantedOn(node, static_cast<int>(slot));
      if (wanted == job.uid) ++held[place];
      const bool lower =
          !wanted.empty() && !IsFinishing(records_[wanted]) && jobs_.at(wanted).options.priority < job.options.priority;
      if (wanted.empty() || wanted == job.uid || lower) ++room[place];
      // If a slot of a less important job has no process, that job waits as well, so it does not run instead of `job`.
      if (!lower || node.slots[slot].process.empty()) continue;
      if (below.empty()) below = absl::StrCat(wanted, " of priority ", jobs_.at(wanted).options.priority, " on ", name);
    }
  }
  for (const auto& [place, count] : held) {
    if (count >= min) return "";
  }
  const bool fits = std::any_of(room.begin(), room.end(), [&](const auto& entry) { return entry.second >= min; });
  return fits ? below : "";
}

// Adds to the time for which `job` waits although less important work runs. The count starts again whenever a usable
// machine comes or goes, or the coordinator is restarted.
void SimCluster::CheckInversion(SimJob& job) {
  const std::string instead = RunsInstead(job);
  std::string usable, serving;
  for (const auto& [name, node] : nodes_) {
    if (!IsUsable(node)) continue;
    absl::StrAppend(&usable, " ", name);
    for (size_t slot = 0; slot < node.slots.size(); ++slot) {
      absl::StrAppend(&serving, " ", name, "/", slot, "=", WantedOn(node, static_cast<int>(slot)));
    }
  }
  absl::StrAppend(&usable, " ", coordinator_life_);
  // Waiting does not count while a pool has a machine that never registers. The machine that would replace it comes
  // only after the coordinator has given it up.
  const bool waits =
      std::any_of(pools_.begin(), pools_.end(), [](const auto& pool) { return !pool.second.dead.empty(); });
  const bool counts = !instead.empty() && coordinator_up_ && !waits && usable == job.usable;
  job.usable = usable;
  if (!counts) {
    job.inverted_for = 0;
    return;
  }
  job.inverted_for += kLookSeconds;
  if (job.inverted_for <= kSettleSeconds) return;
  Violate(absl::StrCat(job.uid, " of priority ", job.options.priority, " waits for a minimum of ",
                       std::max(1, job.options.min), " for ", kSettleSeconds, " s while ", instead,
                       " is there, whose machines would do:", serving, "; ",
                       records_[job.uid].job().status().reason()));
}

}  // namespace rekindle::core::simulation
