#include "coordinator/core/members/last_holders.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "coordinator/core/state/text.h"

namespace rekindle::core {
namespace {

std::string Steps(int first, int last) {
  return first == last ? absl::StrCat("step ", first) : absl::StrCat("steps ", first, " to ", last);
}

int SavedStep(const Job& job) { return std::max(0, job.record.job().status().checkpoint_step()); }

std::vector<std::string> IdsOf(const std::vector<Candidate>& pool) {
  std::vector<std::string> ids;
  for (const Candidate& candidate : pool) ids.push_back(candidate.trainer);
  return ids;
}

void Tell(Turn& turn, Job& job, const std::vector<Candidate>& pool, const std::vector<std::string>& nodes,
          double limit) {
  if (turn.now < job.regroup.save_told_at + kTellSavesSeconds) return;
  job.regroup.save_told_at = turn.now;
  const bool stops = MustStop(job);
  const std::string until = limit == kNever
                                ? absl::StrCat("stays ", stops ? "until then" : "for as long as that takes",
                                               "; `rekindle drain ", nodes.front(), " --within SECONDS` sets a limit")
                                : absl::StrCat("stays until the limit, in ", Seconds(std::max(0.0, limit - turn.now)));
  const std::string goes_on = stops ? absl::StrCat("the job is to stop: `rekindle resume ", job.record.job().name(),
                                                   "` makes it try again, and the node ")
                                    : "the job trains on, tries again, and ";
  // Members of a job that trains on have tried to save. If they report no error, the store gave no answer, and the
  // event says so. Members of a job that is to stop may not have tried yet, so the event does not blame the store.
  const std::string error = SaveError(job, IdsOf(pool), stops ? "" : kNoAnswer);
  const std::string not_saved = error.empty() ? "is not saved" : absl::StrCat("could not be saved: ", error);
  turn.Emit(
      &job, "drain_waits",
      absl::StrCat(nodes.size() == 1 ? "node " : "nodes ", JoinWords(nodes), nodes.size() == 1 ? " drains" : " drain",
                   ", but nobody else has the state, and it ", not_saved, "; ", goes_on, until),
      nodes.front());
}

}  // namespace

bool StayToSave(Turn& turn, Job& job, const std::vector<Candidate>& pool) {
  // The first call of StayToSave lets the members go on for one more try to save. That try needs another generation,
  // and a job that is to stop forms none.
  if (!MustStop(job) && !std::exchange(job.regroup.save_tried, true)) return true;
  std::vector<std::string> nodes;
  for (const Candidate& candidate : pool) {
    const bool listed = std::find(nodes.begin(), nodes.end(), candidate.node) != nodes.end();
    if (!listed && IsDraining(turn.state, candidate.node)) nodes.push_back(candidate.node);
  }
  if (nodes.empty()) return false;
  double limit = kNever;
  for (const std::string& node : nodes) limit = std::min(limit, turn.state.nodes.at(node).drain_deadline);
  Tell(turn, job, pool, nodes, limit);
  const double pause = PauseAfterSaves(++job.regroup.saves_failed);
  job.regroup.save_again_at = turn.now + std::min(pause, std::max(1.0, (limit - turn.now) / 2));
  return true;
}

double PauseAfterSaves(int failed) {
  constexpr double kLongest = 60;
  return std::min(kLongest, std::exp2(std::min(failed, 10) - 1));
}

std::string SaveError(const Job& job, const std::vector<std::string>& trainers, const std::string& otherwise) {
  for (const std::string& id : trainers) {
    const Trainer* trainer = FindTrainer(job, id);
    if (trainer != nullptr && !trainer->report.checkpoint_error().empty()) {
      return Bounded(trainer->report.checkpoint_error());
    }
  }
  return otherwise;
}

bool IsSaved(const Job& job, const std::vector<Candidate>& pool) {
  const Candidate* best = FindBest(pool);
  return best == nullptr || SpecOf(job).checkpoint().store().empty() ||
         job.record.job().status().checkpoint_step() >= best->step;
}

std::vector<Candidate> WithoutLeaving(const State& state, const Job& job, const std::vector<Candidate>& pool) {
  std::vector<Candidate> staying;
  std::copy_if(pool.begin(), pool.end(), std::back_inserter(staying),
               [&](const Candidate& candidate) { return !MustLeave(state, job, candidate.trainer); });
  return staying;
}

bool StaysWithOthers(const State& state, const Job& job, const std::vector<Candidate>& pool) {
  const std::vector<Candidate> staying = WithoutLeaving(state, job, pool);
  const Candidate *best = FindBest(pool), *kept = FindBest(staying);
  return kept != nullptr && std::tie(kept->step, kept->attempt) == std::tie(best->step, best->attempt);
}

bool LeavesUnsaved(const State& state, const Job& job, const std::vector<Candidate>& pool) {
  const Candidate* best = FindBest(pool);
  if (best == nullptr || best->step == 0 || StaysWithOthers(state, job, pool)) return false;
  const bool has_store = !SpecOf(job).checkpoint().store().empty();
  return has_store ? !IsSaved(job, pool) : !WithoutLeaving(state, job, pool).empty();
}

bool PausesBeforeSave(const Turn& turn, Job& job) {
  if (turn.now >= job.regroup.save_again_at) return false;
  turn.Wake(job, job.regroup.save_again_at);
  return true;
}

void ForgetSaves(Job& job) {
  job.regroup.save_tried = false;
  job.regroup.saves_failed = 0;
  job.regroup.save_again_at = -kNever;
  job.regroup.save_told_at = -kNever;
}

void TellLostSteps(Turn& turn, const Job& job, const std::string& why) {
  const int step = job.record.job().status().step(), saved = SavedStep(job);
  if (step <= saved) return;
  const auto& members = job.record.membership().members();
  const bool any_lives = std::any_of(members.begin(), members.end(), [&](const v1::Member& member) {
    const Trainer* trainer = FindTrainer(job, member.trainer());
    return trainer == nullptr || trainer->death.empty();
  });
  if (any_lives) return;
  turn.Emit(&job, "steps_lost",
            absl::StrCat(Steps(saved + 1, step), " went with the last that had ", step == saved + 1 ? "it" : "them",
                         ": ", why));
}

}  // namespace rekindle::core
