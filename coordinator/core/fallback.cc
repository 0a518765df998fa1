#include "coordinator/core/fallback.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "coordinator/core/candidates.h"
#include "coordinator/core/shard_holders.h"

namespace rekindle::core {
namespace {

// When nobody of the newest generation holds its state: whoever has the most of it first, kept out or not.
std::vector<Candidate> Replicas(const Turn& turn, const Job& job) {
  std::vector<Candidate> replicas;
  for (const auto& [id, trainer] : job.trainers) {
    if (!MayJoin(turn.state, job, trainer, turn.now)) continue;
    replicas.push_back(ToCandidate(trainer, -1));
    replicas.back().live = trainer.report.has_state();
  }
  std::stable_sort(replicas.begin(), replicas.end(), [](const Candidate& a, const Candidate& b) {
    return std::tuple(a.live, a.live ? a.step : 0) > std::tuple(b.live, b.live ? b.step : 0);
  });
  return replicas;
}

// A silent process that may still come back with more than `step`: until when to wait for it.
double RicherUntil(const State& state, const Job& job, const std::vector<Candidate>& pool, int step, double now) {
  double until = 0;
  for (const auto& [id, trainer] : job.trainers) {
    if (std::any_of(pool.begin(), pool.end(), [&](const Candidate& c) { return c.trainer == id; })) continue;
    if (!trainer.reported || !trainer.death.empty() || !trainer.report.has_state()) continue;
    if (trainer.report.step() <= step || trainer.report.phase() == v1::TRAINER_READY) continue;
    if (!MustLeave(state, job, id)) until = std::max(until, GivenUpAt(state, job, &trainer));
  }
  return until > now ? until : 0;
}

int DesiredWorkers(const State& state, const Job& job) {
  int desired = 0;
  for (const auto& [name, node] : state.nodes) {
    if (node.lost || node.record.draining()) continue;
    for (const auto& [slot, uid] : node.slots) {
      desired += uid == job.record.job().uid() && !job.giving.count(absl::StrCat(name, "/", slot));
    }
  }
  return std::min(desired, MaxWorkers(job));
}

// The checkpoint that the newest generation should restore, when a member tried, failed and found another since.
std::string FindSpoiled(const Job& job, const std::vector<Candidate>& pool) {
  const std::string& tried = job.record.membership().source().checkpoint();
  if (tried.empty()) return "";
  for (const Candidate& candidate : pool) {
    const v1::TrainerReport& report = FindTrainer(job, candidate.trainer)->report;
    if (report.phase() != v1::TRAINER_INTERRUPTED || report.has_state()) continue;
    if (report.generation() == job.record.membership().generation() && report.restorable().manifest() != tried) {
      return tried;
    }
  }
  return "";
}

}  // namespace

Fallback FromAnywhere(Turn& turn, Job& job, const std::vector<MemberView>& views, std::vector<Candidate> survivors) {
  Fallback result;
  for (const MemberView& view : views) {
    if (view.standing != Standing::kLeftOut || turn.now >= view.gone_at) continue;
    turn.Wake(job, view.gone_at);
    result.wait = true;
  }
  const bool any_survivor = !survivors.empty();
  result.pool = std::move(survivors);
  Fill(result.pool, Replicas(turn, job), MaxWorkers(job));
  for (Candidate& candidate : result.pool) candidate.live = job.trainers[candidate.trainer].report.has_state();
  if (result.pool.empty()) job.ready_since = kNever;
  if (result.wait || static_cast<int>(result.pool.size()) < MinWorkers(job)) {
    if (result.wait) {
      SetState(job, v1::PENDING, "waits for silent members that may hold the state");
    } else {
      WaitForWorkers(turn, job, result.pool.size());
    }
    result.wait = true;
    return result;
  }
  if (job.ready_since == kNever) job.ready_since = turn.now;
  const double form_at = job.ready_since + turn.state.tunables.formation_seconds;
  const auto ready = static_cast<int>(result.pool.size());
  const int desired = any_survivor || turn.now >= form_at ? ready : DesiredWorkers(turn.state, job);
  if (ready < desired) {
    SetState(job, v1::PENDING, absl::StrCat(ready, " of ", desired, " workers are ready; waits a moment"));
    turn.Wake(job, form_at);
    result.wait = true;
    return result;
  }
  const Candidate* best = FindBest(result.pool);
  if (best != nullptr) result.origin = {Origin::Kind::kRank, best->step, best->attempt, "", ""};
  const std::string spoiled = FindSpoiled(job, result.pool);
  if (!spoiled.empty() && job.record.checkpoint().manifest() == spoiled) job.record.clear_checkpoint();
  std::vector<v1::Checkpointed> checkpoints;
  for (const Candidate& candidate : result.pool) {
    const v1::TrainerReport& report = job.trainers[candidate.trainer].report;
    if (report.has_restorable() && report.restorable().manifest() != spoiled) {
      checkpoints.push_back(report.restorable());
    }
  }
  // Those that have lived on have not looked into the store for long.
  const std::string lost = DescribeLost(job, result.pool);
  if (!lost.empty() && job.record.has_checkpoint()) checkpoints.push_back(job.record.checkpoint());
  std::pair<int, int> newest{-1, -1};
  for (const v1::Checkpointed& checkpoint : checkpoints) {
    const std::pair<int, int> found{checkpoint.generation(), checkpoint.step()};
    if (found <= newest) continue;
    newest = found;
    if (best != nullptr && best->step >= found.second) continue;
    result.origin = {Origin::Kind::kCheckpoint, found.second, 0, checkpoint.manifest(), ""};
  }
  result.origin.lost = lost;
  if (const double until = RicherUntil(turn.state, job, result.pool, result.origin.step, turn.now); until > 0) {
    SetState(job, v1::PENDING, "waits for a silent trainer that may hold newer state");
    turn.Wake(job, until);
    result.wait = true;
  }
  return result;
}

}  // namespace rekindle::core
