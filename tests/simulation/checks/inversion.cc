#include "tests/simulation/checks/inversion.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "tests/simulation/coordinator/job_record.h"

namespace rekindle::core::simulation {
namespace {

// `kSettleSeconds` is how long a job may wait although less important work runs. First, orders in two pools may each
// take `kPoolStartSeconds` without result. Then a silent process of the less important job is given up after 11 s, and
// its other processes have `kPauseSeconds` to save the state. At last a trainer needs 6 s to start.
constexpr double kSettleSeconds = 11 + kPauseSeconds + 2 * kPoolStartSeconds + 6;

// Returns whether the job trains. A gang may train on machines of several pools until it has moved into one.
bool Trains(const v1::JobRecord& record) { return record.job().status().state() == v1::RUNNING; }

// Returns whether the job has made all its steps. A finishing job keeps the machines that have its state, whichever job
// waits.
bool IsFinishing(const v1::JobRecord& record) { return record.job().status().state() == v1::FINISHING; }

}  // namespace

void InversionCheck::Look() {
  for (const auto& [uid, job] : world_.jobs) LookAt(job);
}

void InversionCheck::LookAt(const SimJob& job) {
  Wait& wait = waits_[job.uid];
  const std::string instead = RunsInstead(job);
  std::string usable, serving;
  for (const auto& [name, node] : world_.nodes) {
    if (!IsUsable(node)) continue;
    absl::StrAppend(&usable, " ", name);
    for (size_t slot = 0; slot < node.slots.size(); ++slot) {
      absl::StrAppend(&serving, " ", name, "/", slot, "=", WantedOn(node, static_cast<int>(slot)));
    }
  }
  absl::StrAppend(&usable, " ", coordinator_.life());
  // Waiting does not count while a pool has a machine that never registers. The machine that would replace it comes
  // only after the coordinator has given it up.
  const bool waits =
      std::any_of(world_.pools.begin(), world_.pools.end(), [](const auto& pool) { return !pool.second.dead.empty(); });
  const bool counts = !instead.empty() && coordinator_.is_up() && !waits && usable == wait.usable;
  wait.usable = usable;
  if (!counts) {
    wait.seconds = 0;
    return;
  }
  wait.seconds += kLookSeconds;
  if (wait.seconds <= kSettleSeconds) return;
  journal_.Violate(absl::StrCat(job.uid, " of priority ", job.options.priority, " waits for a minimum of ",
                                std::max(1, job.options.min), " for ", kSettleSeconds, " s while ", instead,
                                " is there, whose machines would do:", serving, "; ",
                                coordinator_.records().jobs.at(job.uid).job().status().reason()));
}

std::string InversionCheck::RunsInstead(const SimJob& job) const {
  const v1::JobRecord& record = coordinator_.records().jobs.at(job.uid);
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
  for (const auto& [name, node] : world_.nodes) {
    if (!IsUsable(node)) continue;
    const std::string place = gang ? node.pool : "";
    for (size_t slot = 0; slot < node.slots.size(); ++slot) {
      const std::string wanted = WantedOn(node, static_cast<int>(slot));
      if (wanted == job.uid) ++held[place];
      const bool lower = !wanted.empty() && !IsFinishing(coordinator_.records().jobs.at(wanted)) &&
                         world_.jobs.at(wanted).options.priority < job.options.priority;
      if (wanted.empty() || wanted == job.uid || lower) ++room[place];
      // If a slot of a less important job has no process, that job waits as well, so it does not run instead of `job`.
      if (!lower || node.slots[slot].process.empty()) continue;
      if (below.empty())
        below = absl::StrCat(wanted, " of priority ", world_.jobs.at(wanted).options.priority, " on ", name);
    }
  }
  for (const auto& [place, count] : held) {
    if (count >= min) return "";
  }
  const bool fits = std::any_of(room.begin(), room.end(), [&](const auto& entry) { return entry.second >= min; });
  return fits ? below : "";
}

bool InversionCheck::IsUsable(const SimNode& node) const {
  const auto known = coordinator_.records().nodes.find(node.name);
  return node.up && node.agent && !node.draining && node.unheard_until <= world_.now() &&
         known != coordinator_.records().nodes.end() && !known->second.draining();
}

}  // namespace rekindle::core::simulation
