#include "coordinator/core/generation/fallback.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "coordinator/core/generation/restore_point.h"
#include "coordinator/core/members/candidates.h"
#include "coordinator/core/members/durable.h"
#include "coordinator/core/members/identity.h"
#include "coordinator/core/members/shard_holders.h"

namespace rekindle::core {
namespace {

// Returns the trainers that may join, when nobody of the newest generation holds its state. Those with the newest state
// come first. Trainers on nodes that are kept out for a while are included.
std::vector<Candidate> Replicas(const Turn& turn, Job& job) {
  std::vector<Candidate> replicas;
  for (const auto& [id, trainer] : job.trainers) {
    if (!JoinsNow(turn, job, trainer)) continue;
    replicas.push_back(ToCandidate(trainer, -1));
    replicas.back().live = HoldsState(job, trainer.report);
  }
  std::stable_sort(replicas.begin(), replicas.end(), [](const Candidate& a, const Candidate& b) {
    return std::tuple(a.live, a.live ? a.step : 0) > std::tuple(b.live, b.live ? b.step : 0);
  });
  return replicas;
}

// Returns until when to wait for a silent trainer that may still come back with state of a later step than `step`.
// Returns 0 where there is no such trainer.
double RicherUntil(const State& state, const Job& job, const std::vector<Candidate>& pool, int step, double now) {
  double until = 0;
  for (const auto& [id, trainer] : job.trainers) {
    if (std::any_of(pool.begin(), pool.end(), [&](const Candidate& c) { return c.trainer == id; })) continue;
    if (!trainer.reported || !trainer.death.empty() || !HoldsState(job, trainer.report)) continue;
    if (trainer.report.step() <= step || trainer.report.phase() == v1::TRAINER_READY) continue;
    if (!MustLeave(state, job, id)) until = std::max(until, GivenUpAt(state, job, &trainer));
  }
  return until > now ? until : 0;
}

// Chooses the live state as the origin of the next generation, unless the store has a checkpoint of a later step.
RestorePoint ChooseSource(Turn& turn, Job& job, const std::vector<Candidate>& pool) {
  RestorePoint point;
  std::vector<Candidate> first;
  Fill(first, pool, MaxWorkers(job));
  const Candidate* best = FindBest(first);
  const auto live_is_enough = [&] { return best != nullptr && best->step >= DurableStep(job); };
  if (!live_is_enough() && !pool.empty()) point = ChooseRestorePoint(turn, job, pool);
  if (live_is_enough()) {
    // ChooseRestorePoint may have found that the durable checkpoint is damaged. Then the live state is enough after
    // all.
    point = {.waits_for = "", .origin = {Origin::Kind::kRank, best->step, best->attempt, "", ""}, .pool = first};
  }
  point.origin.lost = DescribeLost(job, pool);
  return point;
}

}  // namespace

Fallback FromAnywhere(Turn& turn, Job& job, const std::vector<MemberView>& views, std::vector<Candidate> survivors) {
  Fallback result;
  for (const MemberView& view : views) {
    if (!MayReturn(view, turn.now)) continue;
    turn.Wake(job, view.gone_at);
    result.wait = true;
  }
  const bool any_survivor = !survivors.empty();
  result.pool = std::move(survivors);
  const std::vector<Candidate> replicas = Replicas(turn, job);
  result.pool.insert(result.pool.end(), replicas.begin(), replicas.end());
  for (Candidate& candidate : result.pool) candidate.live = HoldsState(job, job.trainers[candidate.trainer].report);
  if (result.pool.empty()) job.regroup.ready_since = kNever;
  if (const std::string differ = AwaitOneGroup(turn, job); !differ.empty()) {
    SetState(turn, job, v1::PENDING, differ);
    result.wait = true;
    return result;
  }
  std::erase_if(result.pool, [&](const Candidate& candidate) { return !IsCompared(job, candidate.trainer); });
  const bool enough = !result.wait && static_cast<int>(result.pool.size()) >= MinWorkers(job);
  if (enough && job.regroup.ready_since == kNever) job.regroup.ready_since = turn.now;
  // While there are too few candidates, those that are there already look for the checkpoint that they will restore.
  RestorePoint point = ChooseSource(turn, job, result.pool);
  if (!enough) {
    if (result.wait) {
      SetState(turn, job, v1::PENDING, "waits for silent members that may hold the state");
    } else {
      WaitForWorkers(turn, job, result.pool.size());
    }
    result.wait = true;
    return result;
  }
  const double form_at = job.regroup.ready_since + turn.state.tunables.formation_seconds;
  const int ready = std::min(static_cast<int>(result.pool.size()), MaxWorkers(job));
  const int desired = any_survivor || turn.now >= form_at ? ready : DesiredWorkers(turn.state, job);
  if (ready < desired) {
    SetState(turn, job, v1::PENDING, absl::StrCat(ready, " of ", desired, " workers are ready; waits a moment"));
    turn.Wake(job, form_at);
    result.wait = true;
    return result;
  }
  if (!point.waits_for.empty()) {
    SetState(turn, job, v1::PENDING, point.waits_for);
    result.wait = true;
    return result;
  }
  result.pool = std::move(point.pool);
  result.origin = std::move(point.origin);
  if (const double until = RicherUntil(turn.state, job, result.pool, result.origin.step, turn.now); until > 0) {
    SetState(turn, job, v1::PENDING, "waits for a silent trainer that may hold newer state");
    turn.Wake(job, until);
    result.wait = true;
  }
  return result;
}

}  // namespace rekindle::core
