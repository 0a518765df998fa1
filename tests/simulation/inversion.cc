// Nobody has machines below a job whose minimum waits and would fit on what those below have, with what is free.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "tests/simulation/world.h"

namespace rekindle::core::simulation {
namespace {

constexpr double kLookSeconds = 0.5;
// Whoever has machines below may be silent at first, and is given up after 11 s; then it has kPauseSeconds to save its
// state. Before that what is ordered in two pools may not come within kPoolStartSeconds each. And 6 s to start.
constexpr double kSettleSeconds = 11 + kPauseSeconds + 2 * kPoolStartSeconds + 6;

// A gang may train on machines of several places until it has moved.
bool Trains(const v1::JobRecord& record) { return record.job().status().state() == v1::RUNNING; }

// What has made all its steps keeps the machines that have its state, whoever waits.
bool IsFinishing(const v1::JobRecord& record) { return record.job().status().state() == v1::FINISHING; }

bool IsOver(const v1::JobRecord& record) {
  const v1::JobState state = record.job().status().state();
  return state == v1::SUCCEEDED || state == v1::FAILED || state == v1::CANCELLED;
}

}  // namespace

void World::InversionLoop() {
  for (auto& [uid, job] : jobs_) CheckInversion(job);
  queue_.At(queue_.now() + kLookSeconds, [this] { InversionLoop(); });
}

bool World::IsUsable(const SimNode& node) const {
  const auto known = node_records_.find(node.name);
  return node.up && node.agent && !node.draining && node.unheard_until <= queue_.now() &&
         known != node_records_.end() && !known->second.draining();
}

// Whose trainers keep its minimum from it: a job and a node. Empty: nobody's, or it does not wait.
std::string World::RunsInstead(const SimJob& job) {
  const v1::JobRecord& record = records_[job.uid];
  if (job.options.budget > 0) return "";  // It may be its budget that it waits for.
  if (!job.submitted || record.job().uid().empty() || IsOver(record) || Trains(record) || IsFinishing(record) ||
      record.want_paused())
    return "";
  const int min = std::max(1, job.options.min);
  const bool gang = job.options.min == job.options.max && min > 1;
  std::map<std::string, int> held, room;  // Slots, by where a gang may come together: a pool, or what nobody ordered.
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
      if (!lower || node.slots[slot].process.empty()) continue;  // One that only waits keeps the slot just the same.
      if (below.empty()) below = absl::StrCat(wanted, " of priority ", jobs_.at(wanted).options.priority, " on ", name);
    }
  }
  for (const auto& [place, count] : held) {
    if (count >= min) return "";
  }
  const bool fits = std::any_of(room.begin(), room.end(), [&](const auto& entry) { return entry.second >= min; });
  return fits ? below : "";
}

// Counted anew whenever other machines are there, or another coordinator.
void World::CheckInversion(SimJob& job) {
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
  // What is ordered for it in a machine's place comes once that is known to be dead.
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
