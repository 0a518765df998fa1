#include "coordinator/core/keeping/remembered.h"

#include <algorithm>

namespace rekindle::core {
namespace {

// Returns whether the job still needs to remember the trainer: it is a member of the newest generation, or was in a
// higher generation, whose number no later generation may have.
bool IsNeeded(const Job& job, const std::string& id, const Trainer& trainer) {
  if (trainer.report.generation() > job.record.membership().generation()) return true;
  return job.ahead.count(id) > 0 || FindMember(job, id) != nullptr;
}

void ForgetOne(Turn& turn, Job& job) {
  auto oldest = job.trainers.end();
  for (auto at = job.trainers.begin(); at != job.trainers.end(); ++at) {
    const bool is_older = oldest == job.trainers.end() || at->second.spoken_of < oldest->second.spoken_of;
    if (is_older && !IsNeeded(job, at->first, at->second)) oldest = at;
  }
  if (oldest == job.trainers.end()) return;
  job.past.erase(oldest->first);
  job.trainers.erase(oldest);
  ++turn.effects.crowded_out;
}

}  // namespace

Trainer* Remember(Turn& turn, Job& job, const std::string& id) {
  if (job.trainers.count(id) == 0) {
    ForgetTrainers(job, turn.now);
    if (job.trainers.size() >= kMaxTrainers) ForgetOne(turn, job);
    if (job.trainers.size() >= kMaxTrainers) return nullptr;
  }
  Trainer& trainer = job.trainers[id];
  trainer.spoken_of = turn.now;
  return &trainer;
}

void ForgetTrainers(Job& job, double now) {
  std::erase_if(job.trainers, [&](const auto& entry) {
    return now >= entry.second.spoken_of + kRememberSeconds && !IsNeeded(job, entry.first, entry.second);
  });
  std::erase_if(job.past, [&](const std::string& id) { return job.trainers.count(id) == 0; });
}

}  // namespace rekindle::core
